// The kernels of seeding on a GPU: pure functions of shapes.
#pragma once

#include <optional>

#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/assign/seeding/nearer_policy.hpp"
#include "tallskinny/gemm/assign/seeding/policy.hpp"

namespace ts::inline v0::cuda {

/// Candidates that assign/seeding/kernels/seed_distances.cuh takes at a time, at most.
inline constexpr index_t most_seed_candidates = 12;
/// As many as a kernel is compiled for that takes so many.
[[nodiscard]] constexpr index_t seed_candidates(index_t count) noexcept { return count <= 1 ? 1 : (count + 3) / 4 * 4; }

/// assign/seeding/kernels/seed_distances.cuh
[[nodiscard]] KernelPlan seed_distances_plan(bool lower, DType type, Coordinates coordinates, index_t candidates,
                                             index_t chunks);
/// assign/seeding/kernels/seed_labelled.cuh
[[nodiscard]] KernelPlan seed_labelled_plan(DType type, Coordinates coordinates, index_t chunks);
/// assign/seeding/kernels/seed_draw.cuh
[[nodiscard]] KernelPlan seed_draw_plan(bool wide, index_t draws);
/// assign/seeding/kernels/seed_count.cuh
[[nodiscard]] KernelPlan seed_count_plan(index_t counts, index_t size, const DeviceInfo& device);

/// Rows that assign/seeding/kernels/seed_choose.cuh draws before it chooses one of them, at most.
inline constexpr index_t most_trials = SeedTurnsPolicy::most_trials;
/// As many as there are places for in its tables.
[[nodiscard]] constexpr index_t padded_trials(index_t trials) noexcept { return trials <= 8 ? 8 : 16; }
/// assign/seeding/kernels/seed_choose.cuh among this many rows of so many bytes, of which those drawn lie in
/// shared memory.
[[nodiscard]] KernelPlan seed_choose_plan(bool wide, index_t trials, index_t rows, index_t row_bytes,
                                          const DeviceInfo& device);

/// assign/seeding/kernels/seed_heads.cuh
[[nodiscard]] KernelPlan seed_heads_plan(index_t rows, const DeviceInfo& device);
/// The kernels that find the rows that candidates are nearer to.
struct NearerPlans {
  index_t columns;  ///< of rows in float16
  KernelPlan heads, limits, tiles, measure;
};
/// None for devices other than sm_90, and for rows of which 64 do not lie in shared memory.
[[nodiscard]] std::optional<NearerPlans> nearer_plans(index_t rows, index_t d, const DeviceInfo& device);
/// Whether candidates of many choices at once cost less than one choice after the other (seed_choose.cuh), when there
/// are so many centres.
[[nodiscard]] bool batches_pay(index_t rows, index_t d, index_t trials, index_t centers) noexcept;
/// assign/seeding/kernels/seed_ahead.cuh; seed_turns.cuh
[[nodiscard]] KernelPlan seed_ahead_plan(index_t rows, const DeviceInfo& device);
[[nodiscard]] KernelPlan seed_turns_plan(index_t draws);
/// assign/seeding/kernels/seed_candidates.cuh; seed_pairs.cuh
[[nodiscard]] KernelPlan seed_candidates_plan(index_t padded);
[[nodiscard]] KernelPlan seed_gains_plan(index_t candidates);
[[nodiscard]] KernelPlan seed_pairs_plan(index_t padded);

}  // namespace ts::inline v0::cuda
