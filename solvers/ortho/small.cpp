#include "tallskinny/solvers/ortho/small.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "tallskinny/solvers/types.hpp"

namespace ts::ortho {

namespace {
template <class T>
using ColMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
}  // namespace

template <class T>
HermitianEigen<T> hermitian_eigen(HostView<const T> h) {
  const index_t n = h.rows();
  HermitianEigen<T> result{std::vector<real_t<T>>(static_cast<std::size_t>(n)), Matrix<T>(n, n)};
  if (n == 0) return result;
  if (!all_finite(h)) {
    std::fill(result.values.begin(), result.values.end(), std::numeric_limits<real_t<T>>::quiet_NaN());
    set_identity(result.vectors.view());
    return result;
  }
  ColMajor<T> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j) a(i, j) = h(i, j);
  const Eigen::SelfAdjointEigenSolver<ColMajor<T>> solver(a);
  for (index_t i = 0; i < n; ++i) {
    result.values[static_cast<std::size_t>(i)] = solver.eigenvalues()(i);
    for (index_t j = 0; j < n; ++j) result.vectors(i, j) = solver.eigenvectors()(i, j);
  }
  return result;
}

template <class T>
bool cholesky(HostView<T> g, real_t<T> margin) {
  const index_t n = g.rows();
  for (index_t j = 0; j < n; ++j) {
    const real_t<T> start = std::real(g(j, j));
    real_t<T> pivot = start;
    for (index_t k = 0; k < j; ++k) pivot -= std::norm(g(k, j));
    if (!(pivot > margin * start) || !std::isfinite(pivot)) return false;
    const real_t<T> root = std::sqrt(pivot);
    g(j, j) = root;
    for (index_t c = j + 1; c < n; ++c) {
      T sum = g(j, c);
      for (index_t k = 0; k < j; ++k) sum -= conjugate(g(k, j)) * g(k, c);
      g(j, c) = sum / root;
    }
    for (index_t k = 0; k < j; ++k) g(j, k) = T{};
  }
  return true;
}

template <class T>
void multiply_left(HostView<const T> a, HostView<T> r) {
  const auto p = product<T>(a, r);
  for (index_t i = 0; i < r.rows(); ++i)
    for (index_t j = 0; j < r.cols(); ++j) r(i, j) = p(i, j);
}

template <class T>
Matrix<T> product(HostView<const T> a, HostView<const T> b) {
  expects(a.cols() == b.rows(), "the factors of a small product do not fit");
  auto c = Matrix<T>::zeros(a.rows(), b.cols());
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t k = 0; k < a.cols(); ++k) {
      const T aik = a(i, k);
      for (index_t j = 0; j < b.cols(); ++j) c(i, j) += aik * b(k, j);
    }
  return c;
}

template <class T>
void set_identity(HostView<T> a) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) a(i, j) = i == j ? T{1} : T{};
}

template <class T>
bool all_finite(HostView<const T> a) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j)
      if (!std::isfinite(std::real(a(i, j))) || !std::isfinite(std::imag(a(i, j)))) return false;
  return true;
}

#define TS_INSTANTIATE(T)                                              \
  template HermitianEigen<T> hermitian_eigen<T>(HostView<const T>);    \
  template bool cholesky<T>(HostView<T>, real_t<T>);                   \
  template void multiply_left<T>(HostView<const T>, HostView<T>);      \
  template Matrix<T> product<T>(HostView<const T>, HostView<const T>); \
  template void set_identity<T>(HostView<T>);                          \
  template bool all_finite<T>(HostView<const T>);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::ortho
