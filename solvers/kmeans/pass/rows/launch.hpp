// Kernel arguments for rows in device memory.
#pragma once

#include <span>

#include "tallskinny/gemm/runtime/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"

namespace ts::inline v0::assign_device {

[[nodiscard]] inline cuda::RowsArgument argument_of(const Rows& x) noexcept {
  return {x.values(), x.rows(), x.row_stride(), x.col_stride(), x.scales()};
}

/// Memory for so many T, in the order of the context's stream; and such memory as T.
template <class T>
[[nodiscard]] cuda::Memory array(const Context& ctx, index_t count) {
  return {ctx.stream, at(count) * sizeof(T)};
}
template <class T>
[[nodiscard]] T* as(const cuda::Memory& memory) {
  return static_cast<T*>(memory.data());
}

/// Launches what threads_plan() and warps_plan() plan.
template <class P>
void launch_threads(const Context& ctx, std::string_view family, const P& policy, index_t count,
                    const typename P::Arguments& arguments, int registers = 128) {
  cuda::launch_with<P>(ctx, cuda::threads_plan(family, policy, count, registers), arguments);
}
template <class P>
void launch_warps(const Context& ctx, std::string_view family, const P& policy, index_t warps,
                  const typename P::Arguments& arguments, int registers = 128) {
  cuda::launch_with<P>(ctx, cuda::warps_plan(family, policy, warps, ctx.stream.device(), registers), arguments);
}

}  // namespace ts::inline v0::assign_device
