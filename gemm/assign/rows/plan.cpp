#include "tallskinny/gemm/assign/rows/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {

namespace {

constexpr index_t threads = 256, warps_a_block = threads / 32;

}  // namespace

KernelPlan assign_rows_plan(std::string_view family, DType type, index_t warps, const DeviceInfo& device) {
  constexpr index_t blocks_at_once = 2;
  KernelPlan plan;
  plan.family = family;
  plan.defines = {define(type)};
  plan.grid = grid_of(ceil_div(warps, warps_a_block), blocks_at_once * device.multiprocessors);
  plan.block = threads;
  plan.budget = {128, family == "assign_decide" ? 384 : 0};  // where its warps meet
  return plan;
}

KernelPlan assign_threads_plan(std::string_view family, DType type, Defines defines, index_t count) {
  KernelPlan plan;
  plan.family = family;
  plan.defines = std::move(defines);
  plan.defines.push_back(define(type));
  plan.grid = grid_of(ceil_div(count, threads), INT32_MAX);
  plan.block = threads;
  plan.budget = {128, 0};
  return plan;
}

}  // namespace ts::cuda
