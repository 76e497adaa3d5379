// The kernels of seeding on a GPU: pure functions of shapes.
#pragma once

#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/seeding/policy.hpp"

namespace ts::inline v0::cuda {

/// The kernels of a batch of draws, in their order.
struct BatchPlans {
  index_t columns;     ///< of rows in float16
  index_t most_draws;  ///< at once
  KernelPlan heads, ahead, tiles, pairs, measure, turns;
  bool warpgroups;  ///< tiles are filter/kernels/heads_tiles.cuh
};
/// @param warpgroups may serve where the device has them
[[nodiscard]] BatchPlans batch_plans(DType type, index_t rows, index_t d, const DeviceInfo& device,
                                     bool warpgroups = true);

}  // namespace ts::inline v0::cuda
