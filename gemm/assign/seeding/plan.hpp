// The kernels of seeding on a GPU: pure functions of shapes.
#pragma once

#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::cuda {

enum class SeedTask { lower, totals };

/// Candidates that assign/seeding/kernels/seed_distances.cuh takes at a time, at most.
inline constexpr index_t most_seed_candidates = 12;
/// As many as a kernel is compiled for that takes so many.
[[nodiscard]] constexpr index_t seed_candidates(index_t count) noexcept {
  return count <= 1 ? 1 : (count + 3) / 4 * 4;
}

/// How assign/seeding/kernels/seed_coordinate.cuh makes coordinates: in float64, or from float64 in float32,
/// or in float32.
enum class Coordinates { wide, narrow, direct };

/// assign/seeding/kernels/seed_distances.cuh
[[nodiscard]] KernelPlan seed_distances_plan(SeedTask task, DType type, Coordinates coordinates,
                                             index_t candidates, index_t chunks);
/// assign/seeding/kernels/seed_labelled.cuh
[[nodiscard]] KernelPlan seed_labelled_plan(DType type, Coordinates coordinates, index_t chunks);
/// kernels/FAMILY.cuh with one thread for each of `count` things; wide: distances in float64.
[[nodiscard]] KernelPlan seed_plan(std::string_view family, DType type, bool wide, index_t count);

/// assign/seeding/kernels/seed_count.cuh
[[nodiscard]] KernelPlan seed_count_plan(index_t counts, index_t size, const DeviceInfo& device);

/// Rows that assign/seeding/kernels/seed_choose.cuh draws before it chooses one of them, at most.
inline constexpr index_t most_trials = 16;
/// As many as there are places for in its tables.
[[nodiscard]] constexpr index_t padded_trials(index_t trials) noexcept {
  return trials <= 8 ? 8 : 16;
}
/// assign/seeding/kernels/seed_choose.cuh among this many rows of so many bytes, of which those drawn lie in
/// shared memory.
[[nodiscard]] KernelPlan seed_choose_plan(bool wide, index_t trials, index_t rows, index_t row_bytes,
                                          const DeviceInfo& device);

}  // namespace ts::cuda
