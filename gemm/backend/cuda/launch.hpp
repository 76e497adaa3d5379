// Starting kernels.
#pragma once

#include <array>
#include <span>
#include <type_traits>

#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/backend/cuda/kernel_plan.hpp"

namespace ts::cuda {

namespace detail {
struct Argument {
  const void* value;
  std::size_t bytes;
};
void launch(const Context&, const KernelPlan&, std::span<const Argument>);
}  // namespace detail

/// Starts the kernel on ctx.stream with these arguments, which must be of the sizes the kernel declares.
/// Compiles it the first time (from the disk cache if it was compiled before), and says so through ctx.log
/// when that takes more than a second. A grid of 0 blocks starts nothing.
/// @throws Error(no_device), Error(device_failure).
template <class... Args>
void launch(const Context& ctx, const KernelPlan& plan, const Args&... args) {
  static_assert((std::is_trivially_copyable_v<Args> && ...), "kernel arguments are copied as bytes");
  const std::array<detail::Argument, sizeof...(Args)> list = {
      detail::Argument{&args, sizeof(Args)}...};  // NOLINT(bugprone-sizeof-expression): pointers are meant
  detail::launch(ctx, plan, list);
}

/// Compiles, in parallel, and loads what these plans need, so that no later launch has to.
void prepare(const Context& ctx, std::span<const KernelPlan> plans);

}  // namespace ts::cuda
