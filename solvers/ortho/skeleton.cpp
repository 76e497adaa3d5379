#include "tallskinny/solvers/ortho/skeleton.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::ortho {

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

template <class T>
void add(HostView<T> s, const Matrix<T>& more) {
  for (index_t i = 0; i < s.rows(); ++i)
    for (index_t j = 0; j < s.cols(); ++j) s(i, j) += more(i, j);
}

/// S(:, 0 .. b) += C R for the coefficients C of a block that was normalised with R before.
template <class T>
void add_product(HostView<T> s, HostView<const T> c, HostView<const T> r) {
  add<T>(s, product<T>(c, r));
}

/// A block whose columns are this near to each other needs no normalisation between its two projections:
/// the errors of the first are amplified by the condition number only.
constexpr double well_conditioned = 20;

}  // namespace

double dead_factor(index_t n) noexcept {
  return std::max(10.0, 2 * std::sqrt(static_cast<double>(n)));
}

template <class T>
Extension orthonormalise(const Context& ctx, BcgsiPlusA method, HostView<const T> v, HostView<T> x,
                         HostView<T> s, HostView<T> r, bool known) {
  const index_t m = v.cols(), b = x.cols();
  expects(v.rows() == x.rows() || m == 0, "the basis and the block have different numbers of rows");
  expects(s.rows() == m && s.cols() == b && r.rows() == b && r.cols() == b,
          "S must be m x b and R b x b for a basis of m and a block of b columns");
  Extension result;
  if (b == 0) {
    result.rung = Rung::chol_qr;
    return result;
  }
  std::vector<double> norms(static_cast<std::size_t>(b));
  column_norms(ctx, HostView<const T>(x), std::span<double>(norms));
  const double scale = std::max(method.noise_scale, *std::max_element(norms.begin(), norms.end()));
  const double dead = dead_factor(x.rows()) * unit_roundoff * scale;
  const auto finish = [&](const Factored& f) {
    result.rank = f.rank, result.dead = b - f.rank, result.rung = f.rung;
    return result;
  };
  if (m == 0) return finish(orthonormalise<T>(ctx, Ladder{dead}, x, r));

  Matrix<T> c(m, b), g(b, b);
  if (!known) {
    tsmttsm(ctx, Op::adjoint, T{1}, v, HostView<const T>(x), T{0}, s);  // S = V^H X
    ++result.passes;
  }
  project_out(ctx, v, HostView<const T>(s), x, c.view(), g.view());  // X -= V S; C = V^H X; G = X^H X
  ++result.passes;
  if (!all_finite(g.cview()) || !all_finite(c.cview())) return finish({0, Rung::failed});

  bool columns_alive = true;
  for (index_t j = 0; j < b; ++j) columns_alive = columns_alive && std::real(g(j, j)) > 1e4 * dead * dead;
  const double condition = columns_alive ? scaled_condition(g) : INFINITY;
  if (condition < well_conditioned) {
    if (condition * relative_projection(c, g) > method.accept) {
      project_out(ctx, v, HostView<const T>(c.cview()), x, HostView<T>{}, g.view());  // X -= V C
      ++result.passes;
      add<T>(s, c);
    }
    set_identity(r);
    auto factor = Matrix<T>::copy_of(g.cview());
    if (cholesky(factor.view(), unit_roundoff)) {
      trsm(ctx, x, factor.cview());
      multiply_left<T>(factor.cview(), r);
      if (condition > 2) {  // one Cholesky QR loses u kappa^2
        gram(ctx, Op::adjoint, T{1}, HostView<const T>(x), T{0}, factor.view());
        if (!cholesky(factor.view(), unit_roundoff)) return finish({0, Rung::failed});
        trsm(ctx, x, factor.cview());
        multiply_left<T>(factor.cview(), r);
      }
      return finish({b, Rung::chol_qr});
    }
  }

  // BCGSI+ proper: normalise, project again, normalise, until a pass changes nothing but the last digits.
  auto f = orthonormalise<T>(ctx, Ladder{dead}, x, r);
  Matrix<T> step(b, b);
  for (int round = 0; round < 4 && f.rank > 0; ++round) {
    const index_t k = f.rank;
    const auto q = x.cols(0, k);
    Matrix<T> again(m, k), gk(k, k);
    tsmttsm(ctx, Op::adjoint, T{1}, v, HostView<const T>(q), T{0}, again.view());
    project_out(ctx, v, HostView<const T>(again.cview()), q, HostView<T>{}, gk.view());
    result.passes += 2;
    const auto r_before = Matrix<T>::copy_of(HostView<const T>(r.rows(0, k)));
    add_product<T>(s, again.cview(), r_before.cview());
    double shrink = 1;
    for (index_t j = 0; j < k; ++j) shrink = std::min(shrink, std::sqrt(std::real(gk(j, j))));
    const bool settled = shrink > 0.5 && scaled_condition(gk) < 3;
    const auto small = step.view().block(0, 0, k, k);
    // Noise of unit columns: a direction that the projection took away altogether was never there.
    const auto again_f = orthonormalise<T>(ctx, Ladder{dead_factor(x.rows()) * unit_roundoff}, q, small);
    for (index_t i = 0; i < b; ++i)
      for (index_t j = 0; j < b; ++j) {
        T sum{};
        if (i < again_f.rank)
          for (index_t l = 0; l < k; ++l) sum += small(i, l) * r_before(l, j);
        r(i, j) = sum;
      }
    f.rank = again_f.rank;
    if (again_f.rung == Rung::failed) f.rung = Rung::failed;
    if ((settled && f.rank == k) || f.rung == Rung::failed) break;
  }
  return finish(f);
}

#define TS_INSTANTIATE(T)                                                                          \
  template Extension orthonormalise<T>(const Context&, BcgsiPlusA, HostView<const T>, HostView<T>, \
                                       HostView<T>, HostView<T>, bool);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::ortho
