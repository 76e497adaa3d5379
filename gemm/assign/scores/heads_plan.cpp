#include "tallskinny/gemm/assign/scores/heads_plan.hpp"

#include <algorithm>

#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/assign/scores/heads_policy.hpp"
#include "tallskinny/gemm/assign/scores/policy.hpp"
#include "tallskinny/gemm/device/tall_operand.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Of 32 bytes of a row, with one of limits.
int head_steps(const HeadsForm& heads) { return static_cast<int>(heads.bytes() / HeadsTilesPolicy::step_bytes) + 1; }

}  // namespace

HeadsForm heads_form(const AssignProblem& p, const DeviceInfo& device) {
  // Products of a pass below which heads are not worth their kernels, and columns below which they are no shorter.
  constexpr double least_products = 0x1p38;
  constexpr index_t least_columns = 96, least_of_row = index_t{1} << 20, most_rows = index_t{1} << 27;
  const bool halves = p.rows.type == DType::float16 || p.rows.type == DType::float32;
  if (device.capability() != 90 || !p.rows.plain || !halves || p.wide || p.fast || p.rows.d < least_columns ||
      p.k * p.rows.d < least_of_row || p.rows.n > most_rows ||
      static_cast<double>(p.rows.n) * static_cast<double>(p.k * p.rows.d) < least_products)
    return {};
  if (!assign_chosen_plan(p, assign_plans(p, device), device)) return {};
  // With one step more, whole stages.
  return {p.rows.d <= 192 ? 48 : 112, HeadNumbers::float16};
}

index_t tile_rows(const ScorePlan& chosen) { return group_rows * policy_of<GroupsPolicy>(chosen.kernel).groups; }

KernelPlan heads_rows_plan(DType type, HeadNumbers numbers, index_t rows, const DeviceInfo& device) {
  KernelPlan plan = warps_plan("heads_rows", HeadsRowsPolicy{type, numbers}, rows, device);
  plan.budget = {64, 0};
  return plan;
}

KernelPlan heads_centroids_plan(HeadNumbers numbers, index_t k) {
  const index_t padded = ceil_div(k, heads_chunk) * heads_chunk;
  return threads_plan("heads_centroids", HeadsCentroidsPolicy{numbers}, 32 * std::max(padded, k + 1));
}

KernelPlan heads_limits_plan(const RowsForm& rows, const HeadsForm& heads, index_t steps, const DeviceInfo& device) {
  const auto size = static_cast<int>(size_of(rows.type));
  const Piece piece = widest_piece(static_cast<std::size_t>(size), {Layout::row_major, false, rows.alignment}, rows.d);
  HeadsLimitsPolicy policy{rows.type, static_cast<int>(rows.d), static_cast<int>(steps),
                           heads.numbers == HeadNumbers::int8 ? 1 : head_steps(heads)};
  policy.vector = std::min(piece.count, 16 / size);
  policy.alignment = std::min(piece.alignment, policy.vector * size);
  KernelPlan plan = warps_plan("heads_limits", policy, ceil_div(rows.n, 32), device);
  plan.budget = {64, static_cast<int>(ceil_div(rows.d, 16) * 64)};
  return plan;
}

KernelPlan heads_tiles_plan(index_t rows, const HeadsForm& heads, bool each_row, const DeviceInfo& device) {
  constexpr int least_stages = 3, most_groups = 3;
  HeadsTilesPolicy policy;
  policy.each_row = each_row, policy.numbers = heads.numbers;
  policy.steps = head_steps(heads);
  policy.stage_steps = policy.steps % 4 == 0 ? 4 : 3;
  for (policy.groups = most_groups; policy.groups > 0; --policy.groups) {
    policy.stages = 0;
    const int left = device.shared_bytes_per_block - policy.shared_bytes();
    policy.stages = std::clamp(left / policy.stage_bytes(), least_stages, policy.most_stages);
    if (left >= least_stages * policy.stage_bytes()) break;
  }
  KernelPlan plan = plan_of("heads_tiles", policy);
  plan.grid = grid_of(ceil_div(rows, std::max(policy.groups, 1) * policy.group_rows), device.multiprocessors);
  plan.block = static_cast<unsigned>(policy.threads());
  plan.shared_bytes = static_cast<std::size_t>(policy.shared_bytes());
  plan.budget = {policy.registers(), 0};
  return plan;
}

KernelPlan heads_lists_plan(index_t tiles, const DeviceInfo& device) {
  KernelPlan plan = warps_plan("heads_lists", HeadsListsPolicy{}, tiles, device);
  plan.budget = {64, 0};
  return plan;
}

}  // namespace ts::inline v0::cuda
