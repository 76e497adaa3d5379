#include "tallskinny/gemm/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/cpu/describe.hpp"

namespace ts::inline v0 {

namespace {

constexpr index_t ceil_div(index_t a, index_t b) noexcept { return (a + b - 1) / b; }

bool double_precision(DType t) noexcept { return t == DType::float64 || t == DType::complex128; }

Simd level_of(Simd wanted, const ProcessorInfo& device) {
  if (wanted == Simd::best) return device.simd;
  if (wanted == Simd::amx && device.simd == Simd::avx512) return device.simd;  // tiles serve none of these
  if (wanted > device.simd)
    throw Error(Errc::invalid_argument, "this processor has no " + std::string(name_of(wanted)) +
                                            " instructions (the widest it has are " +
                                            std::string(name_of(device.simd)) + ")");
  return wanted;
}

/// Useful share of whole tiles (seed of the idea: NVIDIA's matrix multiplication guide, "tile quantization").
double tile_share(index_t size, index_t tile) noexcept {
  return size == 0 ? 1.0 : static_cast<double>(size) / static_cast<double>(ceil_div(size, tile) * tile);
}

void decide(Plan& plan, const ProcessorInfo& device, int threads) {
  const cpu::FastPath d = cpu::describe(plan.problem, plan.simd, threads > 0 ? threads : device.threads);
  plan.kernel = d.kernel;
  plan.lanes = d.lanes, plan.fold = d.fold, plan.tile_rows = d.tile_rows, plan.tile_cols = d.tile_cols;
  plan.chunk_rows = d.chunk_rows, plan.chunks = d.chunks, plan.threads = d.threads;
  plan.streaming_stores = d.streams;
  // Tiles shrink at the edges to whole vectors; what a last vector does beyond the width is lost.
  plan.tile_utilisation = plan.fold > 1 ? tile_share(d.across * d.fold, d.lanes) : tile_share(d.across, d.lanes);
  plan.wave_utilisation = plan.chunks == 0 ? 1.0 : tile_share(plan.chunks, plan.threads);
}

void predict(Plan& plan, const ProcessorInfo& device) {
  const double share = static_cast<double>(plan.threads) / device.threads;
  const bool in_cache = plan.cost.bytes() <= static_cast<double>(device.l2_bytes) * plan.threads;
  const bool writes = plan.cost.written_bytes * 20 > plan.cost.read_bytes;
  const double bandwidth = in_cache ? device.cache_bytes_per_second * share
                           : writes ? device.copy_bytes_per_second
                                    : device.read_bytes_per_second;
  const double peak = double_precision(plan.problem.type) ? device.float64_flops : device.float32_flops;
  const double narrower = static_cast<double>(plan.lanes) / lanes_of(device.simd, plan.problem.type);
  plan.memory_seconds = plan.cost.bytes() / bandwidth;
  plan.arithmetic_seconds = plan.cost.flops / (peak * share * narrower * plan.tile_utilisation * plan.wave_utilisation);
  plan.launch_seconds = plan.threads > 1 ? device.launch_seconds : device.launch_seconds / 10;
  const double work = std::max(plan.memory_seconds, plan.arithmetic_seconds);
  plan.seconds = work + plan.launch_seconds;
  plan.bound = plan.launch_seconds > work                      ? Bound::launch
               : plan.arithmetic_seconds > plan.memory_seconds ? Bound::arithmetic
                                                               : Bound::memory;
}

}  // namespace

std::string_view name_of(Bound bound) noexcept {
  switch (bound) {
    case Bound::memory: return "memory";
    case Bound::arithmetic: return "arithmetic";
    case Bound::launch: return "launch";
  }
  return "?";
}

Plan make_plan(const Problem& problem, const ProcessorInfo& device, const PlanOverrides& wish) {
  Plan plan;
  plan.problem = problem;
  plan.cost = cost_of(problem);
  plan.simd = level_of(wish.simd, device);
  expects(wish.threads >= 0, "threads must not be negative");
  decide(plan, device, wish.threads);
  predict(plan, device);
  return plan;
}

}  // namespace ts::inline v0
