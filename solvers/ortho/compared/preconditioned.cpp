// Cholesky QR of a block that a better factor has brought near to orthonormal columns: the factor comes from
// a Gram matrix with twice the digits, or from a random sketch.
#include "tallskinny/solvers/ortho/compared/householder.hpp"
#include "tallskinny/solvers/ortho/compared/skeleton_detail.hpp"
#include "tallskinny/solvers/ortho/compared/sketch.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/ortho/wide_gram.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho::detail {

namespace {

/// X = X F^-1, then one Cholesky QR. False when X F^-1 has a condition number that costs digits.
template <class T>
bool preconditioned_cholesky(Tall<T>& tall, HostView<const T> factor, PlacedView<T> x, HostView<T> r) {
  constexpr double smallest_pivot = 0.02;
  tall.solve(x, factor);
  auto g = gram_of<T>(tall, x);
  if (!cholesky(g.view(), smallest_pivot)) return false;
  tall.solve(x, g.cview());
  copy<T>(product<T>(g.cview(), factor).view(), r);
  return true;
}

}  // namespace

template <class T>
Factored factorise(Tall<T>& tall, MixedCholQr, PlacedView<T> x, HostView<T> r) {
  tall.count_own_pass(x, true, false);
  Matrix<T> factor(x.cols(), x.cols());
  const bool success = wide_cholesky_factor<T>(tall.context(), x.host(), factor.view()) &&
                       preconditioned_cholesky<T>(tall, factor.cview(), x, r);
  return full_or_failed(success, x.cols(), Rung::mixed);
}

template <class T>
Factored factorise(Tall<T>& tall, RandomisedCholQr method, PlacedView<T> x, HostView<T> r) {
  const index_t b = x.cols();
  if (x.rows() < b) return {};
  tall.count_own_pass(x, true, false);
  auto small = sketch<T>(tall.context(), method.seed, sketch_rows(b), x.host());
  if (!all_finite(small.cview())) return {};
  (void)householder_qr<T>(small.view());
  auto factor = Matrix<T>::zeros(b, b);
  for (index_t i = 0; i < b; ++i) {
    if (small(i, i) == T{}) return {};
    for (index_t j = i; j < b; ++j) factor(i, j) = small(i, j);
  }
  return full_or_failed(preconditioned_cholesky<T>(tall, factor.cview(), x, r), b, Rung::randomised);
}

#define TS_INSTANTIATE(T)                                                            \
  template Factored factorise<T>(Tall<T>&, MixedCholQr, PlacedView<T>, HostView<T>); \
  template Factored factorise<T>(Tall<T>&, RandomisedCholQr, PlacedView<T>, HostView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho::detail
