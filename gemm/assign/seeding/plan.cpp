#include "tallskinny/gemm/assign/seeding/plan.hpp"

#include <algorithm>

#include "tallskinny/gemm/assign/scores/heads_plan.hpp"

namespace ts::inline v0::cuda {

KernelPlan seed_distances_plan(bool lower, DType type, Coordinates coordinates, index_t candidates, index_t chunks) {
  const SeedDistancesPolicy policy{type, coordinates, static_cast<int>(seed_candidates(candidates)), lower};
  KernelPlan plan = threads_plan("seed_distances", policy, chunks * policy.threads);  // a block a chunk
  plan.budget = {std::min(255, 65536 / (policy.threads * policy.blocks_at_once()) / 8 * 8), policy.shared_bytes()};
  return plan;
}

KernelPlan seed_labelled_plan(DType type, Coordinates coordinates, index_t chunks) {
  const SeedLabelledPolicy policy{type, coordinates};
  KernelPlan plan = threads_plan("seed_labelled", policy, chunks * policy.threads);
  plan.budget = {64, policy.shared_bytes};
  return plan;
}

KernelPlan seed_draw_plan(bool wide, index_t draws) {
  KernelPlan plan = threads_plan("seed_draw", SeedDrawPolicy{wide}, draws * SeedDrawPolicy::threads);
  plan.budget.shared_bytes = SeedDrawPolicy::shared_bytes;
  return plan;
}

KernelPlan seed_count_plan(index_t counts, index_t size, const DeviceInfo& device) {
  constexpr index_t each = 16;
  const index_t bytes = counts * 4;
  const SeedCountPolicy policy{bytes <= (48 << 10)};
  KernelPlan plan = threads_plan("seed_count", policy, size);
  plan.grid = grid_of(ceil_div(size, policy.threads * each), policy.blocks_at_once * device.multiprocessors);
  plan.shared_bytes = policy.shared ? static_cast<std::size_t>(bytes) : 0;
  return plan;
}

KernelPlan seed_choose_plan(bool wide, index_t trials, index_t rows, index_t row_bytes, const DeviceInfo& device) {
  constexpr index_t rows_at_once = 128;  // of a block
  const SeedChoosePolicy policy{wide, static_cast<int>(padded_trials(trials))};
  KernelPlan plan = threads_plan("seed_choose", policy, rows);
  plan.grid = grid_of(ceil_div(rows, rows_at_once), device.multiprocessors);
  plan.meets = true;
  plan.shared_bytes = static_cast<std::size_t>(policy.dynamic_bytes(plan.grid, row_bytes));
  plan.budget = {128, policy.shared_bytes()};
  return plan;
}

KernelPlan seed_heads_plan(index_t rows, const DeviceInfo& device) {
  KernelPlan plan = warps_plan("seed_heads", SeedHeadsPolicy{}, rows, device);
  plan.budget = {64, 0};
  return plan;
}

std::optional<NearerPlans> nearer_plans(index_t rows, index_t d, const DeviceInfo& device) {
  index_t steps = ceil_div(d, 16) + 1;
  while (steps % 3 != 0 && steps % 4 != 0) ++steps;
  NearerPlans plans{16 * (steps - 1), {}, {}, {}, {}};
  if (!device.features().warpgroups) return std::nullopt;
  plans.tiles = heads_tiles_plan(rows, {plans.columns, HeadNumbers::float16}, true, device);
  if (policy_of<HeadsTilesPolicy>(plans.tiles).groups == 0) return std::nullopt;
  plans.heads = seed_heads_plan(rows, device);
  plans.limits = threads_plan("seed_limits", SeedLimitsPolicy{}, rows);
  plans.measure = warps_plan("seed_measure", SeedMeasurePolicy{}, rows, device);
  for (KernelPlan* const plan : {&plans.limits, &plans.measure}) plan->budget = {64, 0};
  return plans;
}

bool batches_pay(index_t rows, index_t d, index_t trials, index_t centers) noexcept {
  // Seconds: of a batch and of a choice beside their products, and of one product (H100).
  constexpr double batch = 300e-6, choice = 10e-6, of_batch = 1 / 1e14, of_choice = 1 / 3e12;
  const double products = static_cast<double>(rows * d) * static_cast<double>(trials);
  const double choices = static_cast<double>(std::clamp<index_t>(8 * centers, 128, 8192)) / static_cast<double>(trials);
  return batch / choices + products * of_batch < choice + products * of_choice;
}

KernelPlan seed_candidates_plan(index_t padded) {
  KernelPlan plan = threads_plan("seed_candidates", SeedCandidatesPolicy{}, 32 * padded);
  plan.budget = {64, 0};
  return plan;
}

KernelPlan seed_ahead_plan(index_t rows, const DeviceInfo& device) {
  KernelPlan plan = threads_plan("seed_ahead", SeedAheadPolicy{}, rows);
  plan.grid =
      std::min(plan.grid, static_cast<unsigned>(std::min(device.multiprocessors, SeedAheadPolicy::most_blocks)));
  plan.meets = true;
  plan.budget = {128, SeedAheadPolicy::shared_bytes};
  return plan;
}

KernelPlan seed_turns_plan(index_t draws) {
  KernelPlan plan = threads_plan("seed_turns", SeedTurnsPolicy{}, 1);
  plan.shared_bytes = static_cast<std::size_t>(draws * SeedTurnsPolicy::bytes_of_draw);
  plan.budget = {128, SeedTurnsPolicy::shared_bytes};
  return plan;
}

KernelPlan seed_gains_plan(index_t candidates) {
  KernelPlan plan = threads_plan("seed_gains", SeedGainsPolicy{}, 32 * candidates);
  plan.budget = {64, 0};
  return plan;
}

KernelPlan seed_pairs_plan(index_t padded) {
  KernelPlan plan = threads_plan("seed_pairs", SeedPairsPolicy{}, padded / 32 * SeedPairsPolicy::threads);
  plan.budget = {32, SeedPairsPolicy::shared_bytes};
  return plan;
}

}  // namespace ts::inline v0::cuda
