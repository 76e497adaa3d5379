#include "tallskinny/gemm/assign/seeding/plan.hpp"

#include <algorithm>

namespace ts::cuda {

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

}  // namespace ts::cuda
