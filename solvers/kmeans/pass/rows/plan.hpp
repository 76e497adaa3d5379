// Plans of kernels with a thread, or a warp, for each of so many things: pure functions of shapes.
#pragma once

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"

namespace ts::inline v0::cuda {

/// The kernels of k-means and the headers that they share with the host; made by cmake/TsEmbed.cmake.
[[nodiscard]] std::span<const Source> kmeans_sources() noexcept;

/// plan_of() of one of these kernels.
template <class P>
[[nodiscard]] KernelPlan kmeans_plan_of(std::string_view family, const P& policy) {
  KernelPlan plan = plan_of(family, policy);
  plan.beside = kmeans_sources;
  return plan;
}

/// A kernel with one thread for each of `count` things.
template <class P>
[[nodiscard]] KernelPlan threads_plan(std::string_view family, const P& policy, index_t count, int registers = 128) {
  KernelPlan plan = kmeans_plan_of(family, policy);
  plan.grid = grid_of(ceil_div(count, P::threads), INT32_MAX);
  plan.block = P::threads;
  plan.budget = {registers, 0};
  return plan;
}
/// A kernel that shares its rows among so many warps, or fewer that go on.
template <class P>
[[nodiscard]] KernelPlan warps_plan(std::string_view family, const P& policy, index_t warps, const DeviceInfo& device,
                                    int registers = 128) {
  KernelPlan plan = threads_plan(family, policy, 32 * warps, registers);
  plan.grid = grid_of(ceil_div(warps, P::threads / 32), P::blocks_at_once * device.multiprocessors);
  return plan;
}

}  // namespace ts::inline v0::cuda
