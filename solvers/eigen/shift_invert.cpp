#include "tallskinny/solvers/eigen/shift_invert.hpp"

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <cmath>
#include <cstdio>
#include <limits>

#include "tallskinny/solvers/eigen/krylov.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

template <class T>
using Sparse = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int64_t>;
template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// A with an explicit diagonal, so that every shift has the same pattern. A is Hermitian: its rows read as
/// columns give the conjugate, which is undone.
template <class T>
Sparse<T> with_diagonal(CsrView<T> a) {
  std::vector<Eigen::Triplet<T, std::int64_t>> entries;
  entries.reserve(static_cast<std::size_t>(a.nonzeros() + a.rows));
  for (index_t i = 0; i < a.rows; ++i) {
    entries.emplace_back(i, i, T{});
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k)
      entries.emplace_back(i, a.indices[k], a.values[k]);
  }
  Sparse<T> s(a.rows, a.cols);
  s.setFromTriplets(entries.begin(), entries.end());
  return s;
}

template <class T>
void shift_diagonal(Sparse<T>& s, const Column<T>& diagonal, double shift) {
  for (index_t i = 0; i < s.rows(); ++i) s.coeffRef(i, i) = diagonal(i) - shift;
}

/// The largest absolute row sum: a bound of ||A||_2 from above.
template <class T>
double row_sum_norm(CsrView<T> a) {
  double norm = 0;
  for (index_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k) sum += std::abs(a.values[k]);
    norm = std::max(norm, sum);
  }
  return norm;
}

template <class T>
Column<T> random_column(index_t n, std::uint64_t stream) {
  Matrix<T> x(n, 1);
  Context ctx;
  ctx.threads = 1;
  fill_random<T>(ctx, 0x5eed, stream, x.view());
  return Eigen::Map<const Column<T>>(x.data(), n);
}

/// Exposes the column counts of the factor, known after the symbolic analysis.
template <class T>
class Ldlt : public Eigen::SimplicialLDLT<Sparse<T>, Eigen::Lower, Eigen::AMDOrdering<std::int64_t>> {
 public:
  /// Flops of the numeric factorisation: the sum of squared column counts.
  [[nodiscard]] double flops() const {
    double sum = 0;
    for (Eigen::Index j = 0; j < this->m_nonZerosPerCol.size(); ++j) {
      const auto c = static_cast<double>(this->m_nonZerosPerCol[j]);
      sum += c * c;
    }
    return is_complex<T> ? 4 * sum : sum;
  }
};

template <class T>
using Lu = Eigen::SparseLU<Sparse<T>, Eigen::COLAMDOrdering<std::int64_t>>;

/// ||(A - sigma I)^-1|| by three steps of inverse iteration.
template <class T, class Body>
double inverse_norm(const Body& body) {
  Column<T> x = random_column<T>(body.n, 2);
  double growth = 0;
  for (int step = 0; step < 3; ++step) {
    x /= x.norm();
    x = body.solve(x);
    growth = x.norm();
    if (!std::isfinite(growth)) return std::numeric_limits<double>::infinity();
  }
  return growth;
}

/// Tries sigma, then shifts beside it: `factorise()` of the body is called with body.sigma set. An eigenvalue
/// at the shift would drown all others in the rounding of its huge inverse.
template <class T, class Body, class Factorise>
void settle_shift(Body& body, double sigma, double norm, const Factorise& factorise) {
  constexpr double largest_growth = 1e13;
  double move = 1e-7 * (norm > 0 ? norm : 1);
  body.sigma = sigma;
  if (body.n == 0) return;
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (factorise() && inverse_norm<T>(body) * norm < largest_growth) return;
    body.sigma = sigma - move;
    move *= 4.0 / 3;
    char text[200];
    std::snprintf(
        text, sizeof text,
        "the matrix minus %g times the identity is singular to rounding; the shift was moved to %.17g", sigma,
        body.sigma);
    body.note = text;
  }
  throw Error(Errc::invalid_argument,
              "the matrix minus --sigma times the identity cannot be factorised; choose another --sigma");
}

/// Column by column: the bits do not depend on the number of threads.
template <class T, class Body>
void apply_columns(const Context& ctx, const Body& body, HostView<const T> x, HostView<T> y) {
  const index_t n = x.rows(), p = x.cols();
#pragma omp parallel for num_threads(ctx.thread_count()) schedule(static, 1)
  for (index_t j = 0; j < p; ++j) {
    Column<T> b(n);
    for (index_t i = 0; i < n; ++i) b(i) = x(i, j);
    const Column<T> solution = body.solve(b);
    for (index_t i = 0; i < n; ++i) y(i, j) = solution(i);
  }
}

}  // namespace

template <class T>
struct ShiftInvert<T>::Body {
  index_t n = 0;
  double sigma = 0;
  std::string note;
  Sparse<T> shifted;
  Ldlt<T> ldlt;
  Lu<T> lu;
  bool use_lu = false;

  [[nodiscard]] Column<T> solve(const Column<T>& b) const {
    if (use_lu) return lu.solve(b);
    return ldlt.solve(b);
  }

  /// Backward error of a solve: ||b - M x|| / (||M|| ||x|| + ||b||).
  [[nodiscard]] double backward_error(double norm) const {
    const auto b = random_column<T>(n, 1);
    const Column<T> x = solve(b);
    const double e = (b - shifted * x).norm() / (norm * x.norm() + b.norm());
    return std::isfinite(e) ? e : std::numeric_limits<double>::infinity();
  }

  bool factorise(double norm) {
    use_lu = false;
    ldlt.factorize(shifted);
    if (ldlt.info() == Eigen::Success && backward_error(norm) < 1e-13) return true;
    use_lu = true;
    lu.analyzePattern(shifted);
    lu.factorize(shifted);
    return lu.info() == Eigen::Success && backward_error(norm) < 1e-11;
  }
};

template <class T>
ShiftInvert<T>::ShiftInvert(CsrView<T> a, double sigma) {
  expects(a.rows == a.cols, "a shift needs a square matrix");
  expects(std::isfinite(sigma), "--sigma must be a finite number");
  auto body = std::make_shared<Body>();
  body->n = a.rows;
  body->shifted = with_diagonal(a);
  const Column<T> diagonal = body->shifted.diagonal();
  const double norm = row_sum_norm(a) + std::abs(sigma);
  body->ldlt.analyzePattern(body->shifted);
  settle_shift<T>(*body, sigma, norm, [&] {
    shift_diagonal(body->shifted, diagonal, body->sigma);
    return body->factorise(norm);
  });
  body_ = std::move(body);
}

template <class T>
index_t ShiftInvert<T>::rows() const noexcept {
  return body_->n;
}

template <class T>
double ShiftInvert<T>::sigma() const noexcept {
  return body_->sigma;
}

template <class T>
const std::string& ShiftInvert<T>::note() const noexcept {
  return body_->note;
}

template <class T>
void ShiftInvert<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  apply_columns<T>(ctx, *body_, x, y);
}

template <class T>
struct DenseShiftInvert<T>::Body {
  index_t n = 0;
  double sigma = 0;
  std::string note;
  Eigen::PartialPivLU<Dense<T>> lu;

  [[nodiscard]] Column<T> solve(const Column<T>& b) const { return lu.solve(b); }
};

template <class T>
DenseShiftInvert<T>::DenseShiftInvert(HostView<const T> a, double sigma) {
  expects(a.rows() == a.cols(), "a shift needs a square matrix");
  expects(std::isfinite(sigma), "--sigma must be a finite number");
  auto body = std::make_shared<Body>();
  body->n = a.rows();
  double norm = 0;
  for (index_t i = 0; i < body->n; ++i) {
    double sum = 0;
    for (index_t j = 0; j < body->n; ++j) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  settle_shift<T>(*body, sigma, norm + std::abs(sigma), [&] {
    Dense<T> shifted(body->n, body->n);
    for (index_t i = 0; i < body->n; ++i)
      for (index_t j = 0; j < body->n; ++j) shifted(i, j) = a(i, j) - (i == j ? T{body->sigma} : T{});
    body->lu.compute(shifted);
    return true;
  });
  body_ = std::move(body);
}

template <class T>
index_t DenseShiftInvert<T>::rows() const noexcept {
  return body_->n;
}

template <class T>
double DenseShiftInvert<T>::sigma() const noexcept {
  return body_->sigma;
}

template <class T>
const std::string& DenseShiftInvert<T>::note() const noexcept {
  return body_->note;
}

template <class T>
void DenseShiftInvert<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  apply_columns<T>(ctx, *body_, x, y);
}

template <class T>
struct InertiaCounter<T>::Body {
  Sparse<T> shifted;
  Column<T> diagonal;
  Ldlt<T> ldlt;
  double flop_limit = 0;
  bool analysed = false, affordable = true;
};

template <class T>
InertiaCounter<T>::InertiaCounter(CsrView<T> a, double flop_limit) : body_(std::make_shared<Body>()) {
  expects(a.rows == a.cols, "a shift needs a square matrix");
  // The analysis alone costs about as much as hundreds of passes over the pattern.
  body_->affordable = flop_limit == 0 || 300.0 * static_cast<double>(a.nonzeros()) < flop_limit;
  body_->flop_limit = flop_limit;
  if (!body_->affordable) return;
  body_->shifted = with_diagonal(a);
  body_->diagonal = body_->shifted.diagonal();
}

template <class T>
std::optional<index_t> InertiaCounter<T>::operator()(double shift, double clearance) const {
  Body& body = *body_;
  if (!body.affordable) return std::nullopt;
  if (!body.analysed) {
    body.ldlt.analyzePattern(body.shifted);
    body.analysed = true;
    body.affordable = body.flop_limit == 0 || body.ldlt.flops() < body.flop_limit;
    if (!body.affordable) return std::nullopt;
  }
  shift_diagonal(body.shifted, body.diagonal, shift);
  body.ldlt.factorize(body.shifted);
  if (body.ldlt.info() != Eigen::Success) return std::nullopt;
  const auto d = body.ldlt.vectorD();
  index_t below = 0;
  for (Eigen::Index i = 0; i < d.size(); ++i) {
    if (!std::isfinite(std::real(d(i))) || std::real(d(i)) == 0) return std::nullopt;
    below += std::real(d(i)) < 0 ? 1 : 0;
  }
  // L D L^H = A - shift I + E: the count is that of A when ||E|| is below the distance of the shift from the
  // spectrum. For a random unit x, ||E x|| is about ||E||_F / sqrt(n).
  double error = 0;
  for (std::uint64_t stream = 10; stream < 13; ++stream) {
    Column<T> x = random_column<T>(body.shifted.rows(), stream);
    x /= x.norm();
    const Column<T> permuted = body.ldlt.permutationP() * x;
    const Column<T> upper = body.ldlt.matrixU() * permuted;
    const Column<T> scaled = d.cwiseProduct(upper);
    const Column<T> lower = body.ldlt.matrixL() * scaled;
    const Column<T> back = body.ldlt.permutationPinv() * lower;
    error = std::max(error, (back - body.shifted * x).norm());
  }
  if (!(error * std::sqrt(static_cast<double>(body.shifted.rows())) < clearance)) return std::nullopt;
  return below;
}

#define TS_INSTANTIATE(T)             \
  template class ShiftInvert<T>;      \
  template class DenseShiftInvert<T>; \
  template class InertiaCounter<T>;
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
