#include "tallskinny/solvers/ortho/muscle.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::ortho {

namespace {

template <class T>
void check_shapes(HostView<T> x, HostView<T> r) {
  expects(r.rows() == x.cols() && r.cols() == x.cols(), "R must be b x b for a block of b columns");
}

/// Cholesky's own rounding: a pivot below this share of its diagonal says nothing (Higham, theorem 10.7).
double cholesky_margin(index_t b) {
  return 50.0 * static_cast<double>(b) * unit_roundoff;
}

template <class T>
Matrix<T> gram_of(const Context& ctx, HostView<const T> x) {
  Matrix<T> g(x.cols(), x.cols());
  gram(ctx, Op::adjoint, T{1}, x, T{0}, g.view());
  return g;
}

/// X = X chol(G + shift diag(G))^-1 and R = chol R; false and nothing changed when Cholesky breaks down.
template <class T>
bool cholesky_step(const Context& ctx, Matrix<T> g, double shift, HostView<T> x, HostView<T> r) {
  for (index_t j = 0; j < g.rows(); ++j) g(j, j) *= 1 + shift;
  if (!cholesky(g.view(), cholesky_margin(g.rows()))) return false;
  trsm(ctx, x, g.cview());
  multiply_left<T>(g.cview(), r);
  return true;
}

/// max |G - I|: how far a Gram matrix is from that of orthonormal columns.
template <class T>
double distance_to_identity(const Matrix<T>& g) {
  double worst = 0;
  for (index_t i = 0; i < g.rows(); ++i)
    for (index_t j = 0; j < g.cols(); ++j) {
      const double d = std::abs(g(i, j) - (i == j ? T{1} : T{}));
      if (!(d <= worst)) worst = d;  // NaN is the worst
    }
  return worst;
}

/// The second Cholesky QR leaves O(u) only when the first came near to orthonormal columns.
constexpr double near_orthonormal = 0.05;

/// Two Cholesky steps, the first with the given Gram matrix; R holds the factor of what was done before.
template <class T>
bool two_steps(const Context& ctx, Matrix<T> g, HostView<T> x, HostView<T> r) {
  if (!cholesky_step(ctx, std::move(g), 0, x, r)) return false;
  auto second = gram_of<T>(ctx, x);
  if (!(distance_to_identity(second) < near_orthonormal)) return false;
  return cholesky_step(ctx, std::move(second), 0, x, r);
}

/// The last pivot of R under column pivoting: within a small factor of the smallest singular value of Q R.
template <class T>
double smallest_pivot(HostView<const T> r) {
  const index_t b = r.rows();
  if (b == 0) return 1;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> a(b, b);
  for (index_t i = 0; i < b; ++i)
    for (index_t j = 0; j < b; ++j) a(i, j) = r(i, j);
  const Eigen::ColPivHouseholderQR<decltype(a)> qr(a);
  return std::abs(qr.matrixQR()(b - 1, b - 1));
}

template <class T>
Factored full_or_failed(bool success, index_t b, Rung rung) {
  return success ? Factored{b, rung} : Factored{0, Rung::failed};
}

/// One level of Svqb: noise[j] is the norm up to which column j is noise. Returns the rank, or -1 for NaN.
template <class T>
index_t svqb_level(const Context& ctx, HostView<T> x, std::vector<double> noise, HostView<T> r) {
  const index_t b = x.cols();
  for (index_t i = 0; i < b; ++i)
    for (index_t j = 0; j < b; ++j) r(i, j) = T{};
  if (b == 0) return 0;
  std::vector<double> norms(static_cast<std::size_t>(b));
  column_norms(ctx, x, std::span<double>(norms));
  std::vector<index_t> alive;
  for (index_t j = 0; j < b; ++j) {
    const auto s = static_cast<std::size_t>(j);
    if (!std::isfinite(norms[s])) return -1;
    if (norms[s] > noise[s]) alive.push_back(j);
  }
  const auto a = static_cast<index_t>(alive.size());
  if (a == 0) return 0;

  // Unit columns, then G = U diag(lambda) U^H.
  auto scale = Matrix<T>::zeros(b, a);
  for (index_t c = 0; c < a; ++c)
    scale(alive[static_cast<std::size_t>(c)], c) =
        1 / norms[static_cast<std::size_t>(alive[static_cast<std::size_t>(c)])];
  tsmm_in_place(ctx, Op::none, T{1}, x, scale.cview());
  const auto unit = x.cols(0, a);
  const auto g = gram_of<T>(ctx, unit);
  const auto e = hermitian_eigen<T>(g.cview());
  const double largest = e.values.back();
  if (!std::isfinite(largest)) return -1;

  // Directions by falling strength: X D^-1 U = [strong, weak]. Strong ones (down to 1e-4 of the strongest)
  // can be normalised by the Gram matrix without losing more than 8 digits, which CholQr2 gives back.
  Matrix<T> u(a, a);
  for (index_t c = 0; c < a; ++c)
    for (index_t i = 0; i < a; ++i) u(i, c) = e.vectors(i, a - 1 - c);
  index_t strong = 0;
  while (strong < a && e.values[static_cast<std::size_t>(a - 1 - strong)] > 1e-8 * largest) ++strong;
  tsmm_in_place(ctx, Op::none, T{1}, unit, u.cview());
  const auto q = x.cols(0, strong);
  auto upper = Matrix<T>::zeros(a, a);  // [strong, weak] = Q upper
  auto r_strong = Matrix<T>(strong, strong);
  set_identity(r_strong.view());
  auto g_strong = gram_of<T>(ctx, q);
  if (!two_steps<T>(ctx, std::move(g_strong), q, r_strong.view())) return -1;
  for (index_t i = 0; i < strong; ++i)
    for (index_t j = 0; j < strong; ++j) upper(i, j) = r_strong(i, j);

  index_t rank = strong;
  if (strong < a) {
    const index_t w = a - strong;
    const auto weak = x.cols(strong, w);
    for (int pass = 0; pass < 2; ++pass) {
      Matrix<T> c(strong, w);
      tsmttsm(ctx, Op::adjoint, T{1}, q, weak, T{0}, c.view());
      tsmm(ctx, Op::none, T{-1}, q, c.view(), T{1}, weak);
      for (index_t i = 0; i < strong; ++i)
        for (index_t j = 0; j < w; ++j) upper(i, strong + j) += c(i, j);
    }
    std::vector<double> weak_noise(static_cast<std::size_t>(w));
    for (index_t j = 0; j < w; ++j) {
      double sum = 0;
      for (index_t i = 0; i < a; ++i) {
        const auto from = static_cast<std::size_t>(alive[static_cast<std::size_t>(i)]);
        sum += std::norm(u(i, strong + j)) * std::pow(noise[from] / norms[from], 2);
      }
      weak_noise[static_cast<std::size_t>(j)] = std::sqrt(sum) + 4 * unit_roundoff;
    }
    Matrix<T> r_weak(w, w);
    const index_t found = svqb_level<T>(ctx, weak, std::move(weak_noise), r_weak.view());
    if (found < 0) return -1;
    for (index_t i = 0; i < found; ++i)
      for (index_t j = 0; j < w; ++j) upper(strong + i, strong + j) = r_weak(i, j);
    rank += found;
  }
  // X = Q upper U^H D
  for (index_t i = 0; i < rank; ++i)
    for (index_t j = 0; j < a; ++j) {
      T sum{};
      for (index_t k = 0; k < a; ++k) sum += upper(i, k) * conjugate(u(j, k));
      const index_t column = alive[static_cast<std::size_t>(j)];
      r(i, column) = sum * norms[static_cast<std::size_t>(column)];
    }
  return rank;
}

}  // namespace

template <class T>
Factored orthonormalise(const Context& ctx, CholQr, HostView<T> x, HostView<T> r) {
  check_shapes(x, r);
  set_identity(r);
  return full_or_failed<T>(cholesky_step(ctx, gram_of<T>(ctx, x), 0, x, r), x.cols(), Rung::chol_qr);
}

template <class T>
Factored orthonormalise(const Context& ctx, CholQr2, HostView<T> x, HostView<T> r) {
  check_shapes(x, r);
  set_identity(r);
  return full_or_failed<T>(two_steps<T>(ctx, gram_of<T>(ctx, x), x, r), x.cols(), Rung::chol_qr);
}

template <class T>
Factored orthonormalise(const Context& ctx, ShiftedCholQr3, HostView<T> x, HostView<T> r) {
  check_shapes(x, r);
  set_identity(r);
  const auto n = static_cast<double>(x.rows()), b = static_cast<double>(x.cols());
  // s = 11 (m n + n (n + 1)) u ||X||_2^2 for an m x n block; columns are scaled to norm 1, so ||X||^2 <= b.
  const double shift = std::min(11 * (n * b + b * (b + 1)) * unit_roundoff * b, 0.1);
  const bool success =
      cholesky_step(ctx, gram_of<T>(ctx, x), shift, x, r) && two_steps<T>(ctx, gram_of<T>(ctx, x), x, r);
  return full_or_failed<T>(success, x.cols(), Rung::shifted);
}

template <class T>
Factored orthonormalise(const Context& ctx, Svqb method, HostView<T> x, HostView<T> r) {
  check_shapes(x, r);
  std::vector<double> noise(static_cast<std::size_t>(x.cols()), method.dead);
  const index_t rank = svqb_level<T>(ctx, x, std::move(noise), r);
  if (rank < 0) return {0, Rung::failed};
  // Between levels up to 4 digits are lost; Q is near enough to orthonormal for one Cholesky QR to mend it.
  const auto q = x.cols(0, rank);
  if (!cholesky_step(ctx, gram_of<T>(ctx, q), 0, q, r.rows(0, rank))) return {0, Rung::failed};
  return {rank, Rung::svqb};
}

template <class T>
Factored orthonormalise(const Context&, HouseholderQr method, HostView<T> x, HostView<T> r) {
  check_shapes(x, r);
  const index_t n = x.rows(), b = x.cols(), k = std::min(n, b);
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  Dense a(n, b);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < b; ++j) a(i, j) = x(i, j);
  set_identity(r);
  if (!a.allFinite()) return {0, Rung::failed};
  const Eigen::ColPivHouseholderQR<Dense> qr(a);
  index_t rank = 0;
  while (rank < k && std::abs(qr.matrixQR()(rank, rank)) > method.dead) ++rank;
  const Dense q = qr.householderQ() * Dense::Identity(n, rank);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < rank; ++j) x(i, j) = q(i, j);
  for (index_t i = 0; i < b; ++i)
    for (index_t j = 0; j < b; ++j)
      r(i, qr.colsPermutation().indices()(j)) = i <= j && i < rank ? qr.matrixQR()(i, j) : T{};
  return {rank, Rung::householder};
}

template <class T>
Factored orthonormalise(const Context& ctx, Ladder method, HostView<T> x, HostView<T> r) {
  check_shapes(x, r);
  set_identity(r);
  auto g = gram_of<T>(ctx, x);
  if (!all_finite(g.cview())) return {0, Rung::failed};
  const auto input = Matrix<T>::copy_of(HostView<const T>(x));
  const auto restore = [&] {
    for (index_t i = 0; i < x.rows(); ++i)
      for (index_t j = 0; j < x.cols(); ++j) x(i, j) = input(i, j);
  };
  bool columns_alive = x.cols() <= x.rows();
  for (index_t j = 0; j < x.cols(); ++j)
    columns_alive = columns_alive && std::real(g(j, j)) > method.dead * method.dead;
  if (columns_alive) {
    if (two_steps<T>(ctx, std::move(g), x, r) && smallest_pivot<T>(r) > method.dead)
      return {x.cols(), Rung::chol_qr};
    restore();
    const auto f = orthonormalise<T>(ctx, ShiftedCholQr3{}, x, r);
    if (f.rung != Rung::failed && smallest_pivot<T>(r) > method.dead) return f;
    restore();
  }
  const auto f = orthonormalise<T>(ctx, Svqb{method.dead}, x, r);
  if (f.rung != Rung::failed) return f;
  restore();
  return orthonormalise<T>(ctx, HouseholderQr{method.dead}, x, r);
}

template <class T>
double loss_of_orthogonality(const Context& ctx, HostView<const T> x) {
  if (x.cols() == 0) return 0;
  auto g = gram_of<T>(ctx, x);
  for (index_t j = 0; j < g.rows(); ++j) g(j, j) -= T{1};
  const auto e = hermitian_eigen<T>(g.cview());
  return std::max(std::abs(e.values.front()), std::abs(e.values.back()));
}

#define TS_INSTANTIATE(T)                                                                        \
  template Factored orthonormalise<T>(const Context&, CholQr, HostView<T>, HostView<T>);         \
  template Factored orthonormalise<T>(const Context&, CholQr2, HostView<T>, HostView<T>);        \
  template Factored orthonormalise<T>(const Context&, ShiftedCholQr3, HostView<T>, HostView<T>); \
  template Factored orthonormalise<T>(const Context&, Svqb, HostView<T>, HostView<T>);           \
  template Factored orthonormalise<T>(const Context&, HouseholderQr, HostView<T>, HostView<T>);  \
  template Factored orthonormalise<T>(const Context&, Ladder, HostView<T>, HostView<T>);         \
  template double loss_of_orthogonality<T>(const Context&, HostView<const T>);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::ortho
