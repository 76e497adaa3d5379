// Starting the inner-product kernels: what tsmttsm, gram and tsm2r have in common.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/tsmttsm/plan.hpp"

namespace ts::inline v0::detail {

/// C = alpha op(A) B + beta C on the device for an A of any width and B of at most inner_scalars_max scalars;
/// a Gram matrix (A = B) of at most as many. `mirror` is where the (conjugate) transpose of C goes too, or
/// null.
template <class T>
struct InnerCall {
  Operation operation;
  Op op;
  result_t<T> alpha;
  DeviceStrided<const T> a, b;
  result_t<T> beta;
  DeviceStrided<result_t<T>> c;
  result_t<T>* mirror = nullptr;
};
template <class T>
void launch_inner(const Context& ctx, const InnerCall<T>& call);

}  // namespace ts::inline v0::detail
