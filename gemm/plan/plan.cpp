#include "tallskinny/gemm/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/plan/partition.hpp"

namespace ts {

namespace {

constexpr index_t ceil_div(index_t a, index_t b) noexcept {
  return (a + b - 1) / b;
}

bool double_precision(DType t) noexcept {
  return t == DType::float64 || t == DType::complex128;
}

Simd level_of(Simd wanted, const DeviceInfo& device) {
  if (wanted == Simd::best) return device.simd;
  if (wanted > device.simd)
    throw Error(Errc::invalid_argument, "this processor has no " + std::string(name_of(wanted)) +
                                            " instructions (the widest it has are " +
                                            std::string(name_of(device.simd)) + ")");
  return wanted;
}

/// Columns of the small product that lie in vectors, and its other dimension.
struct Small {
  index_t rows, cols;
};
Small small_product(const Problem& p) noexcept {
  switch (p.operation) {
    case Operation::gram:
    case Operation::trsm:
      return {p.p, p.p};
    case Operation::column_norms:
    case Operation::spmm:
      return {1, p.operation == Operation::spmm ? p.q : p.p};
    default:
      return {p.p, p.q};
  }
}

/// Useful share of whole tiles (seed of the idea: NVIDIA's matrix multiplication guide, "tile quantization").
double tile_share(index_t size, index_t tile) noexcept {
  return size == 0 ? 1.0 : static_cast<double>(size) / static_cast<double>(ceil_div(size, tile) * tile);
}

void decide_tile(Plan& plan) {
  const Small small = small_product(plan.problem);
  const int per_element =
      plan.problem.type == DType::complex128 || plan.problem.type == DType::complex64 ? 2 : 1;
  const index_t lanes = std::max(1, plan.lanes / per_element);
  plan.fold = plan.problem.contiguous && small.cols > 0 && small.cols <= lanes / 2
                  ? static_cast<int>(lanes / small.cols)
                  : 1;
  const index_t columns =
      plan.fold > 1 ? small.cols : std::min(ceil_div(small.cols, lanes), index_t{4}) * lanes;
  plan.tile_cols = static_cast<int>(std::max<index_t>(1, columns));
  plan.tile_rows = static_cast<int>(std::clamp<index_t>(small.rows, 1, 4));
  plan.tile_utilisation =
      tile_share(small.cols, plan.tile_cols) * tile_share(small.rows, plan.tile_rows) *
      (plan.fold > 1 ? static_cast<double>(plan.fold * small.cols) / static_cast<double>(lanes) : 1.0);
}

void predict(Plan& plan, const DeviceInfo& device) {
  const double share = static_cast<double>(plan.threads) / device.threads;
  const bool in_cache = plan.cost.bytes() <= static_cast<double>(device.l2_bytes) * plan.threads;
  const bool writes = plan.cost.written_bytes * 20 > plan.cost.read_bytes;
  const double bandwidth = in_cache ? device.cache_bytes_per_second * share
                           : writes ? device.copy_bytes_per_second
                                    : device.read_bytes_per_second;
  const double peak = double_precision(plan.problem.type) ? device.float64_flops : device.float32_flops;
  const double narrower = static_cast<double>(plan.lanes) / lanes_of(device.simd, plan.problem.type);
  plan.memory_seconds = plan.cost.bytes() / bandwidth;
  plan.arithmetic_seconds =
      plan.cost.flops / (peak * share * narrower * plan.tile_utilisation * plan.wave_utilisation);
  plan.launch_seconds = plan.threads > 1 ? device.launch_seconds : device.launch_seconds / 10;
  const double work = std::max(plan.memory_seconds, plan.arithmetic_seconds);
  plan.seconds = work + plan.launch_seconds;
  plan.bound = plan.launch_seconds > work                      ? Bound::launch
               : plan.arithmetic_seconds > plan.memory_seconds ? Bound::arithmetic
                                                               : Bound::memory;
}

bool may_stream(const Problem& p) noexcept {
  return !p.accumulate && (p.operation == Operation::tsmm || p.operation == Operation::tsm2r ||
                           p.operation == Operation::spmm);
}

/// Writing past the caches saves reading what will be overwritten, but only pays for outputs that no cache
/// would have kept; 32 MiB of a shared cache is as much as one process can count on.
bool streaming_pays(const Plan& plan, const DeviceInfo& device) noexcept {
  const auto cache =
      std::max(std::min<std::int64_t>(device.l3_bytes, 32 << 20), device.l2_bytes * device.threads);
  return may_stream(plan.problem) && plan.problem.contiguous &&
         plan.cost.written_bytes > static_cast<double>(cache);
}

std::string_view kernel_name(const Plan& plan) noexcept {
  if (!plan.problem.contiguous) return "panels";
  return plan.fold > 1 ? "folded rows" : "rows";
}

}  // namespace

std::string_view name_of(Bound bound) noexcept {
  switch (bound) {
    case Bound::memory:
      return "memory";
    case Bound::arithmetic:
      return "arithmetic";
    case Bound::launch:
      return "launch";
  }
  return "?";
}

Plan make_plan(const Problem& problem, const DeviceInfo& device, const PlanOverrides& wish) {
  Plan plan;
  plan.problem = problem;
  plan.cost = cost_of(problem);
  plan.simd = level_of(wish.simd, device);
  plan.lanes = lanes_of(plan.simd, problem.type);
  decide_tile(plan);
  if (wish.fold) {
    expects(*wish.fold == 1 || *wish.fold == plan.fold,
            "fold can be 1 or what the width and the vector allow, nothing else");
    plan.fold = *wish.fold;
  }

  plan.chunk_rows =
      wish.chunk_rows.value_or(chunk_rows_of(problem.operation, problem.type, problem.p, problem.q));
  expects(plan.chunk_rows > 0, "chunk_rows must be positive");
  plan.chunks = ceil_div(problem.n, plan.chunk_rows);

  expects(wish.threads >= 0, "threads must not be negative");
  plan.threads = wish.threads > 0 ? wish.threads : device.threads;
  plan.threads = static_cast<int>(std::clamp<index_t>(plan.chunks, 1, plan.threads));
  plan.wave_utilisation = plan.chunks == 0 ? 1.0 : tile_share(plan.chunks, plan.threads);

  plan.streaming_stores = streaming_pays(plan, device);
  if (wish.streaming_stores) {
    expects(!*wish.streaming_stores || may_stream(problem),
            "streaming stores need an operation that writes a tall result without reading it");
    plan.streaming_stores = *wish.streaming_stores;
  }
  plan.kernel = kernel_name(plan);
  predict(plan, device);
  return plan;
}

}  // namespace ts
