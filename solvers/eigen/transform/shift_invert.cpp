#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <algorithm>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/solvers/eigen/transform/settle_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

using detail::Column;
using detail::random_column;
using detail::Sparse;
template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// A - sigma M on a pattern that is the same for every shift.
template <class T>
class ShiftedPencil {
 public:
  ShiftedPencil() = default;
  ShiftedPencil(CsrView<T> a, CsrView<T> mass) {
    expects(a.rows == a.cols, "a shift needs a square matrix");
    expects(mass.rows == 0 || (mass.rows == a.rows && mass.cols == a.cols),
            "the mass matrix has another size than the matrix");
    matrix = assemble(a, 1, mass, 0);
    a_values_ = values();
    m_values_ = Eigen::Map<const Column<T>>(assemble(a, 0, mass, 1).valuePtr(), a_values_.size());
  }

  Sparse<T> matrix;
  void shift(double sigma) { values() = a_values_ - sigma * m_values_; }

 private:
  Eigen::Map<Column<T>> values() { return {matrix.valuePtr(), matrix.nonZeros()}; }

  static Sparse<T> assemble(CsrView<T> a, double of_a, CsrView<T> mass, double of_mass) {
    std::vector<Eigen::Triplet<T, std::int64_t>> entries;
    entries.reserve(at(a.nonzeros() + std::max(mass.nonzeros(), a.rows)));
    detail::append(entries, a, of_a);
    detail::append(entries, mass, of_mass);
    for (index_t i = 0; mass.rows == 0 && i < a.rows; ++i) entries.emplace_back(i, i, of_mass);
    Sparse<T> s(a.rows, a.cols);
    s.setFromTriplets(entries.begin(), entries.end());
    return s;
  }

  Column<T> a_values_, m_values_;
};

/// The largest absolute row sum of a matrix with n rows: a bound of ||A||_2 from above.
template <class View>
double row_sum_norm(const View& a, index_t n) {
  std::vector<double> sums(at(n));
  for_each_entry(a, [&](index_t i, index_t, const auto& x) { sums[at(i)] += std::abs(x); });
  double norm = 0;
  for (const double sum : sums) norm = std::max(norm, sum);
  return norm;
}

template <class T>
Dense<T> dense_of(HostView<const T> a) {
  Dense<T> copy(a.rows(), a.cols());
  for_each_entry(a, [&](index_t i, index_t j, const T& x) { copy(i, j) = x; });
  return copy;
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

/// LDL^H, or LU where that is not stable.
template <class T>
struct PencilFactor : detail::ShiftedFactor<T, double> {
  ShiftedPencil<T> pencil;
  Ldlt<T> ldlt;
  Lu<T> lu;
  bool use_lu = false;

  [[nodiscard]] Column<T> solve(const Column<T>& b) const override {
    if (use_lu) return lu.solve(b);
    return ldlt.solve(b);
  }

  /// Backward error of a solve: ||b - M x|| / (||M|| ||x|| + ||b||).
  [[nodiscard]] double backward_error(double norm) const {
    const auto b = random_column<T>(this->n, 1);
    const Column<T> x = solve(b);
    const double e = (b - pencil.matrix * x).norm() / (norm * x.norm() + b.norm());
    return std::isfinite(e) ? e : inf;
  }

  bool factorise(double norm) {
    use_lu = false;
    ldlt.factorize(pencil.matrix);
    if (ldlt.info() == Eigen::Success && backward_error(norm) < 1e-13) return true;
    use_lu = true;
    lu.analyzePattern(pencil.matrix);
    lu.factorize(pencil.matrix);
    return lu.info() == Eigen::Success && backward_error(norm) < 1e-11;
  }
};

/// LU of a dense matrix.
template <class T, class Shift>
struct DenseFactor : detail::ShiftedFactor<T, Shift> {
  Eigen::PartialPivLU<Dense<T>> lu;

  [[nodiscard]] Column<T> solve(const Column<T>& b) const override { return lu.solve(b); }
};

/// LU of a sparse matrix that need not be Hermitian.
template <class T>
struct SparseFactor : detail::ShiftedFactor<T, T> {
  Lu<T> lu;

  [[nodiscard]] Column<T> solve(const Column<T>& b) const override { return lu.solve(b); }
};

}  // namespace

template <class T>
ShiftInvert<T>::ShiftInvert(CsrView<T> a, double sigma, CsrView<T> mass) {
  expects(std::isfinite(sigma), "`target` must be a finite number");
  auto body = std::make_shared<PencilFactor<T>>();
  body->n = a.rows;
  body->pencil = ShiftedPencil<T>(a, mass);
  const double mass_norm = mass.rows == 0 ? 1 : row_sum_norm(mass, mass.rows);
  const double norm = row_sum_norm(a, a.rows) + std::abs(sigma) * mass_norm;
  body->ldlt.analyzePattern(body->pencil.matrix);
  detail::settle_shift<T, double>(*body, sigma, norm, mass_norm, [&] {
    body->pencil.shift(body->sigma);
    return body->factorise(norm);
  });
  this->body_ = std::move(body);
}

template <class T>
DenseShiftInvert<T>::DenseShiftInvert(HostView<const T> a, double sigma, CsrView<T> mass) {
  expects(a.rows() == a.cols(), "a shift needs a square matrix");
  expects(mass.rows == 0 || mass.rows == a.rows(), "the mass matrix has another size than the matrix");
  expects(std::isfinite(sigma), "`target` must be a finite number");
  auto body = std::make_shared<DenseFactor<T, double>>();
  body->n = a.rows();
  const double mass_norm = mass.rows == 0 ? 1 : row_sum_norm(mass, mass.rows);
  detail::settle_shift<T, double>(
      *body, sigma, row_sum_norm(a, a.rows()) + std::abs(sigma) * mass_norm, mass_norm, [&] {
        auto shifted = dense_of(a);
        if (mass.rows == 0) shifted.diagonal().array() -= body->sigma;
        for_each_entry(mass, [&](index_t i, index_t j, const T& m) { shifted(i, j) -= body->sigma * m; });
        body->lu.compute(shifted);
        return true;
      });
  this->body_ = std::move(body);
}

template <class T>
GeneralInverse<T>::GeneralInverse(CsrView<T> a, T sigma) {
  expects(a.rows == a.cols, "a shift needs a square matrix");
  expects(std::isfinite(std::abs(sigma)), "`target` must be a finite number");
  auto body = std::make_shared<SparseFactor<T>>();
  body->n = a.rows, body->hermitian = false;
  const double norm = row_sum_norm(a, a.rows);
  const auto plain = std::move(ShiftedPencil<T>(a, {}).matrix);  // with all of its diagonal
  body->lu.analyzePattern(plain);
  detail::settle_shift<T, T>(*body, sigma, norm + std::abs(sigma), 1, [&] {
    Sparse<T> shifted = plain;
    for (index_t i = 0; i < a.rows; ++i) shifted.coeffRef(i, i) -= body->sigma;
    body->lu.factorize(shifted);
    if (body->lu.info() != Eigen::Success) return false;
    const auto b = random_column<T>(body->n, 1);
    const Column<T> x = body->solve(b);
    return (b - shifted * x).norm() < 1e-11 * (norm * x.norm() + b.norm());
  });
  this->body_ = std::move(body);
}

template <class T>
GeneralInverse<T>::GeneralInverse(HostView<const T> a, T sigma) {
  expects(a.rows() == a.cols(), "a shift needs a square matrix");
  expects(std::isfinite(std::abs(sigma)), "`target` must be a finite number");
  auto body = std::make_shared<DenseFactor<T, T>>();
  body->n = a.rows(), body->hermitian = false;
  const auto plain = dense_of(a);
  const double norm = a.rows() > 0 ? plain.cwiseAbs().rowwise().sum().maxCoeff() : 0;
  detail::settle_shift<T, T>(*body, sigma, norm + std::abs(sigma), 1, [&] {
    auto shifted = plain;
    shifted.diagonal().array() -= body->sigma;
    body->lu.compute(shifted);
    return true;
  });
  this->body_ = std::move(body);
}

template <class T>
struct InertiaCounter<T>::Body {
  ShiftedPencil<T> pencil;
  Ldlt<T> ldlt;
  double flop_limit = 0;
  double mass_least = 1;
  bool analysed = false, affordable = true;
};

template <class T>
InertiaCounter<T>::InertiaCounter(CsrView<T> a, double flop_limit, CsrView<T> mass, double mass_least)
    : body_(std::make_shared<Body>()) {
  // The analysis alone costs about as much as hundreds of passes over the pattern.
  body_->affordable = flop_limit == 0 || 300.0 * static_cast<double>(a.nonzeros()) < flop_limit;
  body_->flop_limit = flop_limit;
  if (!body_->affordable) return;
  body_->pencil = ShiftedPencil<T>(a, mass);
  body_->mass_least = mass_least;
}

template <class T>
std::optional<index_t> InertiaCounter<T>::operator()(double shift, double clearance) const {
  Body& body = *body_;
  if (!body.affordable) return std::nullopt;
  if (!body.analysed) {
    body.ldlt.analyzePattern(body.pencil.matrix);
    body.analysed = true;
    body.affordable = body.flop_limit == 0 || body.ldlt.flops() < body.flop_limit;
    if (!body.affordable) return std::nullopt;
  }
  body.pencil.shift(shift);
  body.ldlt.factorize(body.pencil.matrix);
  if (body.ldlt.info() != Eigen::Success) return std::nullopt;
  const auto d = body.ldlt.vectorD();
  index_t below = 0;
  for (Eigen::Index i = 0; i < d.size(); ++i) {
    if (!std::isfinite(std::real(d(i))) || std::real(d(i)) == 0) return std::nullopt;
    below += std::real(d(i)) < 0 ? 1 : 0;
  }
  // L D L^H = A - shift M + E: the count is that of the pencil when ||E|| ||M^-1|| is below the distance of
  // the shift from the spectrum. For a random unit x, ||E x|| is about ||E||_F / sqrt(n).
  double error = 0;
  for (std::uint64_t stream = 10; stream < 13; ++stream) {
    Column<T> x = random_column<T>(body.pencil.matrix.rows(), stream);
    x /= x.norm();
    const Column<T> permuted = body.ldlt.permutationP() * x;
    const Column<T> upper = body.ldlt.matrixU() * permuted;
    const Column<T> scaled = d.cwiseProduct(upper);
    const Column<T> lower = body.ldlt.matrixL() * scaled;
    const Column<T> back = body.ldlt.permutationPinv() * lower;
    error = std::max(error, (back - body.pencil.matrix * x).norm());
  }
  if (!(error * std::sqrt(static_cast<double>(body.pencil.matrix.rows())) < clearance * body.mass_least))
    return std::nullopt;
  return below;
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, ShiftInvert)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, DenseShiftInvert)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, GeneralInverse)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, InertiaCounter)

}  // namespace ts::solvers
