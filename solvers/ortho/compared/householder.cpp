#include "tallskinny/solvers/ortho/compared/householder.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

/// ||A(from .., j)||, without overflow.
template <class T>
real_t<T> column_norm(HostView<const T> a, index_t from, index_t j) {
  real_t<T> largest = 0, sum = 0;
  for (index_t i = from; i < a.rows(); ++i) largest = std::max(largest, std::abs(a(i, j)));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  for (index_t i = from; i < a.rows(); ++i) sum += std::norm(a(i, j) / largest);
  return largest * std::sqrt(sum);
}

/// C(:, first ..) -= scale v (v^H C), v = [1; A(j+1 .., j)] in rows j .. n-1.
template <class T>
void reflect(HostView<const T> a, index_t j, T scale, HostView<T> c, index_t first, std::vector<T>& w) {
  if (scale == T{}) return;
  const index_t n = a.rows(), width = c.cols();
  for (index_t l = first; l < width; ++l) w[at(l)] = c(j, l);
  for (index_t i = j + 1; i < n; ++i) {
    const T v = conjugate(a(i, j));
    for (index_t l = first; l < width; ++l) w[at(l)] += v * c(i, l);
  }
  for (index_t l = first; l < width; ++l) c(j, l) -= (w[at(l)] *= scale);
  for (index_t i = j + 1; i < n; ++i) {
    const T v = a(i, j);
    for (index_t l = first; l < width; ++l) c(i, l) -= v * w[at(l)];
  }
}

}  // namespace

template <class T>
std::vector<T> householder_qr(HostView<T> a) {
  const index_t n = a.rows(), b = a.cols();
  std::vector<T> tau(at(b)), w(at(b));
  for (index_t j = 0; j < b; ++j) {
    const real_t<T> norm = column_norm<T>(a, j, j);
    const T alpha = a(j, j);
    if (norm == 0) continue;
    const real_t<T> beta = std::real(alpha) > 0 ? -norm : norm;  // H_j^H a_j = beta e_j without cancellation
    auto& t = tau[at(j)];
    t = (beta - alpha) / beta;
    const T scale = T{1} / (alpha - beta);
    for (index_t i = j + 1; i < n; ++i) a(i, j) *= scale;
    a(j, j) = beta;
    reflect<T>(a, j, conjugate(t), a, j + 1, w);
  }
  return tau;
}

template <class T>
void apply_q(HostView<const T> a, const std::vector<T>& tau, HostView<T> c) {
  std::vector<T> w(at(c.cols()));
  for (index_t j = a.cols(); j-- > 0;) reflect<T>(a, j, tau[at(j)], c, 0, w);
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, householder_qr)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, apply_q)

}  // namespace ts::inline v0::ortho
