#include "tallskinny/solvers/kmeans/seeding/plan.hpp"

#include <algorithm>

#include "tallskinny/solvers/kmeans/pass/filter/heads_plan.hpp"

namespace ts::inline v0::cuda {

BatchPlans batch_plans(DType type, index_t rows, index_t d, const DeviceInfo& device, bool warpgroups) {
  using Policy = SeedBatchPolicy;
  const Policy policy{type};
  index_t steps = ceil_div(d, 16) + 1;
  while (steps % 3 != 0 && steps % 4 != 0) ++steps;  // as heads_tiles_plan() wants them
  BatchPlans plans{};
  plans.columns = 16 * (steps - 1);
  plans.heads = warps_plan("seed_heads", policy, rows, device, 64);
  plans.ahead = threads_plan("seed_ahead", policy, rows);
  plans.ahead.grid =
      std::min(plans.ahead.grid, static_cast<unsigned>(std::min(device.multiprocessors, Policy::most_blocks)));
  plans.ahead.meets = true, plans.ahead.budget = {128, Policy::ahead_bytes};
  plans.pairs = threads_plan("seed_pairs", policy, 1);
  plans.pairs.budget = {64, Policy::pairs_bytes};
  plans.measure = warps_plan("seed_measure", policy, rows, device, 64);
  plans.turns = threads_plan("seed_turns", policy, 1);
  plans.turns.budget = {128, Policy::turns_bytes};
  // Signs of as many draws take 256 MiB, and what is known of a draw lies in shared memory.
  constexpr index_t most = 8192, most_signs = index_t{1} << 31;
  const index_t in_shared = (device.shared_bytes_per_block - Policy::turns_bytes) / Policy::bytes_of_draw;
  plans.most_draws = std::max<index_t>(1, std::min({most, most_signs / rows, in_shared}) / heads_chunk) * heads_chunk;
  if (warpgroups && device.features().warpgroups) {
    plans.tiles = heads_tiles_plan(rows, {plans.columns, HeadNumbers::float16}, true, device);
    plans.warpgroups = policy_of<HeadsTilesPolicy>(plans.tiles).groups > 0;
  }
  if (plans.warpgroups) return plans;
  plans.tiles = threads_plan("seed_tiles", policy, 1);
  plans.tiles.grid = grid_of(ceil_div(rows, Policy::tile_rows), device.multiprocessors);
  plans.tiles.block = Policy::tile_threads, plans.tiles.budget = {255, Policy::tile_bytes};
  return plans;
}

}  // namespace ts::inline v0::cuda
