// Y = alpha op(X) op(S) + beta Y by the kernel of a wide X.
#pragma once

#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::detail {

/// How the operation that is wanted conjugates.
struct Conjugated {
  bool x = false, s = false;
};

/// Y (n x q) = alpha X S + beta Y for `operation`, tsmm or tsm2r. False, and nothing is done, where other
/// kernels serve better.
template <class T, class S>
[[nodiscard]] bool launch_wide(const Context& ctx, Operation operation, Conjugated conjugated, result_t<T> alpha,
                               DeviceStrided<const T> x, DeviceStrided<const S> s, result_t<T> beta,
                               DeviceStrided<result_t<T>> y);

}  // namespace ts::inline v0::detail
