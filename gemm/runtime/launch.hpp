// Starting kernels.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <type_traits>
#include <utility>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

namespace detail {
struct Argument {
  const void* value;
  std::size_t bytes;
};
struct Kernel;
/// Where a kernel is remembered that was found before; null until then.
using KnownKernel = std::atomic<Kernel*>;
void launch(const Context&, const KernelPlan&, std::span<const Argument>, KnownKernel* = nullptr);

template <class... Args>
[[nodiscard]] std::array<Argument, sizeof...(Args)> list(const Args&... args) noexcept {
  static_assert((std::is_trivially_copyable_v<Args> && ...), "kernel arguments are copied as bytes");
  return {Argument{&args, sizeof(Args)}...};  // NOLINT(bugprone-sizeof-expression): pointers are meant
}
}  // namespace detail

/// Starts the kernel on ctx.stream with these arguments, which must be of the sizes the kernel declares.
/// Compiles it the first time (from the disk cache if it was compiled before), and says so through ctx.log
/// when that takes more than a second. A grid of 0 blocks starts nothing.
/// @throws Error(no_device), Error(device_failure).
template <class... Args>
void launch(const Context& ctx, const KernelPlan& plan, const Args&... args) {
  detail::launch(ctx, plan, detail::list(args...));
}

/// The same for a kernel with a policy P, whose one parameter is P::Arguments.
/// @throws Error(invalid_argument) when the plan has another policy.
template <class P>
void launch_with(const Context& ctx, const KernelPlan& plan, const typename P::Arguments& arguments) {
  expect_policy(plan, {P::header, P::name, P::member_names});
  detail::launch(ctx, plan, detail::list(arguments));
}

/// The same where P::Arguments depends on a type, that of results or elements.
template <class P, class R>
void launch_with(const Context& ctx, const KernelPlan& plan, const typename P::template Arguments<R>& arguments) {
  expect_policy(plan, {P::header, P::name, P::member_names});
  detail::launch(ctx, plan, detail::list(arguments));
}

/// A plan for one device that remembers its kernel: what a caller keeps that starts it again and again.
class ReadyKernel {
 public:
  explicit ReadyKernel(KernelPlan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] const KernelPlan& plan() const noexcept { return plan_; }
  /// As above; always on the same device.
  template <class... Args>
  void launch(const Context& ctx, const Args&... args) const {
    detail::launch(ctx, plan_, detail::list(args...), &kernel_);
  }
  template <class P>
  void launch_with(const Context& ctx, const typename P::Arguments& arguments) const {
    expect_policy(plan_, {P::header, P::name, P::member_names});
    detail::launch(ctx, plan_, detail::list(arguments), &kernel_);
  }
  template <class P, class R>
  void launch_with(const Context& ctx, const typename P::template Arguments<R>& arguments) const {
    expect_policy(plan_, {P::header, P::name, P::member_names});
    detail::launch(ctx, plan_, detail::list(arguments), &kernel_);
  }

 private:
  KernelPlan plan_;
  mutable detail::KnownKernel kernel_ = nullptr;
};

/// Compiles, in parallel, and loads what these plans need, so that no later launch has to.
void prepare(const Context& ctx, std::span<const KernelPlan> plans);

}  // namespace ts::inline v0::cuda
