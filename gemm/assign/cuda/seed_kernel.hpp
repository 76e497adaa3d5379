// The kernels of seeding on a GPU: pure functions of shapes.
#pragma once

#include "tallskinny/gemm/backend/cuda/kernel_plan.hpp"

namespace ts::cuda {

enum class SeedTask { lower, lower_by_label, totals };

/// Candidates that kernels/seed_distances.cuh takes at a time, at most.
inline constexpr index_t most_seed_candidates = 12;
/// As many as a kernel is compiled for that takes so many.
[[nodiscard]] constexpr index_t seed_candidates(index_t count) noexcept {
  return count <= 1 ? 1 : (count + 3) / 4 * 4;
}

/// kernels/seed_distances.cuh; wide: distances in float64.
[[nodiscard]] KernelPlan seed_distances_plan(SeedTask task, DType type, bool wide, index_t candidates,
                                             index_t chunks);
/// kernels/FAMILY.cuh with one thread for each of `count` things.
[[nodiscard]] KernelPlan seed_plan(std::string_view family, DType type, bool wide, index_t count);

}  // namespace ts::cuda
