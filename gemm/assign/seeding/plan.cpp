#include "tallskinny/gemm/assign/seeding/plan.hpp"

#include <algorithm>

#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {

namespace {

constexpr index_t seed_threads = 256;

}  // namespace

KernelPlan seed_plan(std::string_view family, DType type, bool wide, index_t count) {
  KernelPlan plan;
  plan.family = family;
  plan.defines = {define(type), {"TS_SCORE", wide ? "double" : "float"}};
  plan.grid = grid_of(ceil_div(count, seed_threads), INT32_MAX);
  plan.block = seed_threads;
  plan.budget = {128, family == "seed_draw" ? static_cast<int>(seed_threads * sizeof(double)) : 0};
  return plan;
}

namespace {

/// A block a chunk.
KernelPlan plan_in(std::string_view family, DType type, Coordinates coordinates, index_t chunks) {
  KernelPlan plan = seed_plan(family, type, coordinates == Coordinates::wide, chunks * seed_threads);
  plan.defines.push_back(define("TS_DIRECT", coordinates == Coordinates::direct ? 1 : 0));
  return plan;
}

}  // namespace

KernelPlan seed_distances_plan(SeedTask task, DType type, Coordinates coordinates, index_t candidates,
                               index_t chunks) {
  constexpr index_t columns = 16;
  const bool wide = coordinates == Coordinates::wide;
  KernelPlan plan = plan_in("seed_distances", type, coordinates, chunks);
  const index_t at_once = seed_candidates(candidates), results = task == SeedTask::totals ? at_once : 1;
  plan.defines.push_back(define("TS_T", at_once));
  plan.defines.push_back(define("TS_LOWER", task == SeedTask::totals ? 0 : 1));
  const index_t size = wide ? 8 : 4;
  // As the kernel's launch bounds have it: more blocks where few candidates leave loads to bind.
  const index_t blocks = at_once == 1 ? 4 : at_once <= 4 ? 3 : at_once > 8 && wide ? 1 : 2;
  plan.budget.registers = static_cast<int>(std::min<index_t>(255, 65536 / (seed_threads * blocks) / 8 * 8));
  plan.budget.shared_bytes = static_cast<int>(seed_threads * (columns * size + 16) +
                                              at_once * columns * size + results * seed_threads / 32 * 8);
  return plan;
}

KernelPlan seed_labelled_plan(DType type, Coordinates coordinates, index_t chunks) {
  KernelPlan plan = plan_in("seed_labelled", type, coordinates, chunks);
  plan.budget = {64, static_cast<int>(seed_threads / 32 * sizeof(double))};
  return plan;
}

KernelPlan seed_count_plan(index_t counts, index_t size, const DeviceInfo& device) {
  constexpr index_t blocks_at_once = 2, each = 16;
  const index_t bytes = counts * 4;
  const bool shared = bytes <= (48 << 10);
  KernelPlan plan;
  plan.family = "seed_count";
  plan.defines = {define("TS_SHARED", shared ? 1 : 0)};
  plan.block = seed_threads;
  plan.grid = grid_of(ceil_div(size, seed_threads * each), blocks_at_once * device.multiprocessors);
  plan.shared_bytes = shared ? static_cast<std::size_t>(bytes) : 0;
  plan.budget = {128, 0};
  return plan;
}

KernelPlan seed_choose_plan(bool wide, index_t trials, index_t rows, index_t row_bytes,
                            const DeviceInfo& device) {
  constexpr index_t choose_threads = 512, rows_at_once = 128;  // of a block
  const index_t padded = padded_trials(trials);
  KernelPlan plan = seed_plan("seed_choose", DType::float64, wide, 1);
  plan.defines.push_back(define("TS_T", padded));
  plan.grid = grid_of(ceil_div(rows, rows_at_once), device.multiprocessors);
  plan.block = choose_threads;
  plan.meets = true;
  plan.shared_bytes = static_cast<std::size_t>(padded * (static_cast<index_t>(plan.grid) * 8 + row_bytes));
  plan.budget = {128, static_cast<int>(padded * 8 * (choose_threads / 32 + 3))};
  return plan;
}

}  // namespace ts::cuda
