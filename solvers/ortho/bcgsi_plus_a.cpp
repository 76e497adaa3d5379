// The default: two projections where they are needed, and the rank found.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

/// The condition number of unit columns with Gram matrix D^-1 G D^-1, D = diag(G)^1/2; infinite when a
/// column is zero or numbers are not finite.
template <class T>
double scaled_condition(const Matrix<T>& g) {
  const index_t b = g.rows();
  Matrix<T> scaled(b, b);
  for (index_t i = 0; i < b; ++i)
    for (index_t j = 0; j < b; ++j)
      scaled(i, j) = g(i, j) / (std::sqrt(std::real(g(i, i))) * std::sqrt(std::real(g(j, j))));
  const auto e = hermitian_eigen<T>(scaled.cview());
  if (!(e.values.front() > 0)) return INFINITY;
  return std::sqrt(e.values.back() / e.values.front());
}

/// max_j ||S(:, j)|| / norm_j: how much of each normalised column still lies in span(V).
template <class T>
double relative_projection(const Matrix<T>& s, const Matrix<T>& g) {
  double worst = 0;
  for (index_t j = 0; j < s.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < s.rows(); ++i) sum += std::norm(s(i, j));
    const double share = std::sqrt(sum / std::real(g(j, j)));
    if (!(share <= worst)) worst = share;
  }
  return worst;
}

/// The largest column norm, from G = X^H X where no square over- or underflowed.
template <class T>
double largest_norm(Tall<T>& tall, PlacedView<const T> x, const Matrix<T>* g) {
  using R = real_t<T>;
  constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  std::vector<R> norms(at(x.cols()));
  bool safe = g != nullptr;
  for (index_t j = 0; safe && j < x.cols(); ++j) {
    const R square = std::real((*g)(j, j));
    safe = square > least && std::isfinite(square);
    norms[at(j)] = std::sqrt(square);
  }
  if (!safe) tall.norms(x, norms);
  return *std::max_element(norms.begin(), norms.end());
}

/// A block whose columns are this near to each other needs no normalisation between its two projections:
/// the errors of the first are amplified by the condition number only.
constexpr double well_conditioned = 20;

}  // namespace

double dead_factor(index_t n, double roundoff) noexcept {
  return roundoff > unit_roundoff ? 16 : std::max(10.0, 2 * std::sqrt(static_cast<double>(n)));
}

namespace detail {
namespace {

/// X = Q R alone.
template <class T>
Factored ladder(Tall<T>& tall, double dead, PlacedView<T> x, HostView<T> r) {
  set_identity(r);
  return factorise(tall, Ladder{dead}, x, r);
}

/// BCGSI+ proper: normalise, project again, normalise, until a pass changes nothing but the last digits.
template <class T>
Factored normalise_and_project(Tall<T>& tall, double dead, PlacedView<const T> v, PlacedView<T> x, HostView<T> s,
                               HostView<T> r) {
  constexpr double u = roundoff_of<T>;
  auto f = ladder(tall, dead, x, r);
  Matrix<T> step(x.cols(), x.cols());
  for (int round = 0; round < 4 && f.rank > 0; ++round) {
    const index_t k = f.rank;
    const auto q = x.cols(0, k);
    Matrix<T> again(v.cols(), k), gk(k, k);
    tall.inner(v, q, again.view());
    tall.project_out(v, again.cview(), q, HostView<T>{}, gk.view());
    const auto r_before = Matrix<T>::copy_of(HostView<const T>(r.rows(0, k)));
    add<T>(s, product<T>(again.cview(), r_before.cview()).view());
    double shrink = 1;
    for (index_t j = 0; j < k; ++j) shrink = std::min(shrink, std::sqrt(static_cast<double>(std::real(gk(j, j)))));
    const bool orthogonal = shrink > 0.9 && scaled_condition(gk) < 1.5;
    const auto small = step.view().block(0, 0, k, k);
    // Noise of unit columns: a direction that the projection took away altogether was never there.
    const auto again_f = ladder(tall, dead_factor(all_rows(tall.context(), x.rows()), u) * u, q, small);
    set_zero(r);
    copy<T>(product<T>(small.rows(0, again_f.rank), r_before.cview()).view(), r.rows(0, again_f.rank));
    f.rank = again_f.rank;
    if (again_f.rung == Rung::failed) f.rung = Rung::failed;
    if ((orthogonal && f.rank == k) || f.rung == Rung::failed) break;
  }
  return f;
}

template <class T>
Extension extend(Tall<T>& tall, BcgsiPlusA method, PlacedView<const T> v, PlacedView<T> x, HostView<T> s, HostView<T> r,
                 bool known) {
  const index_t m = v.cols(), b = x.cols();
  constexpr double u = roundoff_of<T>;
  Extension result;
  if (b == 0) {
    result.rung = Rung::chol_qr;
    return result;
  }
  const auto finish = [&](const Factored& f) {
    result.rank = f.rank, result.dead = b - f.rank, result.rung = f.rung;
    return result;
  };

  Matrix<T> c(m, b), g(b, b);
  const bool measure = m > 0 && !known;
  if (measure) tall.inner_and_gram(v, x, s, g.view());  // S = V^H X
  const double scale = std::max(method.noise_scale, largest_norm<T>(tall, x, measure ? &g : nullptr));
  const double dead = dead_factor(all_rows(tall.context(), x.rows()), u) * u * scale;
  if (m == 0) return finish(ladder(tall, dead, x, r));

  tall.project_out(v, s, x, c.view(), g.view());  // X -= V S; C = V^H X; G = X^H X
  if (!all_finite(g.cview()) || !all_finite(c.cview())) return finish({});

  // The condition of the columns; infinite where one may be noise.
  const auto condition_of = [&] {
    for (index_t j = 0; j < b; ++j)
      if (!(std::real(g(j, j)) > 1e4 * dead * dead)) return static_cast<double>(INFINITY);
    return scaled_condition(g);
  };
  double condition = condition_of();
  if (condition < well_conditioned && condition * relative_projection(c, g) > method.accept * u) {
    tall.project_out(v, c.cview(), x, HostView<T>{}, g.view());  // X -= V C
    add<T>(s, c.cview());
    condition = condition_of();  // where S was not known well, little may be left
  }
  if (condition < well_conditioned) {
    set_identity(r);
    if (cholesky_step(tall, Matrix<T>::copy_of(g.cview()), x, r)) {
      // One Cholesky QR loses u kappa^2.
      if (condition > 2 && !cholesky_step(tall, gram_of<T>(tall, x), x, r)) return finish({});
      return finish({b, Rung::chol_qr, {}});
    }
  }

  return finish(normalise_and_project<T>(tall, dead, v, x, s, r));
}

}  // namespace
}  // namespace detail

template <class T>
Extension orthonormalise(const Context& ctx, BcgsiPlusA method, PlacedView<const T> v, PlacedView<T> x, HostView<T> s,
                         HostView<T> r, bool known) {
  const index_t m = v.cols(), b = x.cols();
  expects(v.rows() == x.rows() || m == 0, "the basis and the block have different numbers of rows");
  expects(s.rows() == m && s.cols() == b && r.rows() == b && r.cols() == b,
          "S must be m x b and R b x b for a basis of m and a block of b columns");
  Tall<T> tall(ctx);
  Extension e = detail::extend<T>(tall, method, v, x, s, r, known);
  e.work = tall.work();
  return e;
}

#define TS_INSTANTIATE(T)                                                                                           \
  template Extension orthonormalise<T>(const Context&, BcgsiPlusA, PlacedView<const T>, PlacedView<T>, HostView<T>, \
                                       HostView<T>, bool);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho
