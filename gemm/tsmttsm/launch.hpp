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

/// Widths of the panels that so many columns are cut into: as equal as can be, none with more scalars than
/// this.
template <class T>
[[nodiscard]] index_t inner_width(index_t columns, index_t scalars) noexcept {
  const index_t most = scalars / parts_of(dtype_of<T>);
  const index_t panels = (columns + most - 1) / most;
  return (columns + panels - 1) / panels;
}

/// Widths of the panels of a B that a kernel takes beside A. The sums of 16-bit products are kept twice,
/// which leaves less memory for rows; two layouts at once take registers for addresses, and so do both parts of
/// columns.
template <class T>
[[nodiscard]] index_t inner_width(const DeviceStrided<const T>& a, const DeviceStrided<const T>& b) noexcept {
  const Layout of_a = cuda::form_of(a).layout, of_b = cuda::form_of(b).layout;
  if (sizeof(T) == 2 || of_a != of_b) return inner_width<T>(b.cols, cuda::inner_scalars_any);
  return inner_width<T>(b.cols, is_complex<T> && of_a == Layout::col_major ? 96 : cuda::inner_scalars_max);
}

}  // namespace ts::inline v0::detail
