#include <algorithm>
#include <cmath>
#include <tuple>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/tsmm/cost_model.hpp"
#include "tallskinny/gemm/tsmm/plan.hpp"
#include "tallskinny/gemm/tsmm/wide_policy.hpp"

namespace ts::inline v0::cuda {
namespace {

/// A policy, and the cycles that the model gives it for all rows.
struct ScoredWide {
  WidePolicy policy;
  double cost = 0;
};

double cost_of(const Problem& problem, const WidePolicy& k, int multiprocessors, const WideCostModel& m) {
  const int parts = parts_of(k.type), rows = k.rows();
  const auto x_bytes = static_cast<double>(rows * problem.p * static_cast<index_t>(size_of(k.type)));
  const auto y_bytes = static_cast<double>(rows * problem.q * static_cast<index_t>(size_of(result_type_of(k.type))));
  const double k_blocks = std::ceil(static_cast<double>(problem.p * parts) / 16), blocks = k.column_blocks();
  const double s_bytes = k_blocks * blocks * WidePolicy::fragment_block_bytes;
  const double waves = std::ceil(std::ceil(static_cast<double>(problem.n) / rows) / multiprocessors);

  // Too little in flight leaves gaps.
  const double in_flight = (k.stages - 1) * k.x_bytes();
  const double memory = (x_bytes + y_bytes) / m.bytes_per_cycle * std::max(1.0, m.enough_in_flight / in_flight);
  const double cache = (x_bytes + s_bytes) / m.cache_bytes_per_cycle;
  const double shared = (x_bytes * (1 + k.column_warps) + s_bytes * (1 + k.teams)) / m.shared_bytes_per_cycle;
  // Instructions of the warps that share a scheduler.
  const double instruction = k.arithmetic == Arithmetic::float64 ? m.float64_instruction
                             : scalar_bytes(k.type) == 2         ? m.split_short_instruction
                                                                 : m.split_instruction;
  const int turns = (k.warps() + 3) / 4;
  const double tensor = k.tiles * k_blocks * blocks / k.column_warps * parts * instruction * turns;
  const double stages = k_blocks * 16 / k.stage_scalars();
  const double arithmetic = m.tensor * tensor + m.stage * stages + m.k_block * k_blocks;
  double sum = 0;
  for (const double part : {memory, cache, shared, arithmetic}) sum += std::pow(part, 4);
  return waves * std::pow(sum, 0.25);
}

/// What all policies of a problem have in common.
WidePolicy shape_of(const GpuProblem& problem) {
  const Problem& pr = problem.problem;
  const Form& y = problem.out;
  const auto line = pr.q * static_cast<index_t>(size_of(result_type_of(pr.type)));
  WidePolicy shape;
  shape.type = pr.type, shape.q = static_cast<int>(pr.q);
  shape.narrow_s = pr.operation == Operation::tsm2r, shape.accumulate = pr.accumulate;
  shape.columns_y = y.layout == Layout::col_major;
  shape.vector_y = y.layout == Layout::row_major && y.alignment >= 16 && line % 16 == 0;
  return shape;
}

/// Policies that are tried: each combination of these.
constexpr int tile_counts[] = {1, 2}, team_counts[] = {1, 2, 4, 5, 6, 7, 8, 9, 10};
constexpr int column_warp_counts[] = {1, 2, 4}, box_counts[] = {1, 2, 4};
constexpr int least_warps = 4, most_warps = 12, most_stages = 12;

/// Whether the arithmetic serves the type: 16-bit numbers are split for nothing.
bool serves(const WidePolicy& k) {
  const int scalar = scalar_bytes(k.type);
  if (k.arithmetic == Arithmetic::float64) return scalar != 2;
  return scalar == 2 || (scalar == 4 && k.q * parts_of(k.type) > wide_limits.widest_exact);
}

/// Gives the policy as many stages as fit; false where it does not fit.
bool fit_stages(WidePolicy& k, const DeviceInfo& device) {
  if (k.warps() < least_warps || k.warps() > most_warps || k.rows() > WidePolicy::most_rows) return false;
  if (k.column_blocks() % k.column_warps != 0 || k.registers_needed() > register_cap(k.warps())) return false;
  const int most_bytes = device.shared_bytes_per_block - 1024;
  for (k.stages = most_stages; k.stages > 2 && k.shared_bytes() > most_bytes;) --k.stages;
  return k.shared_bytes() <= most_bytes;
}

/// The model for a device: an H100's, with memory and instructions as fast as this one's.
WideCostModel model_of(const BlockLimits& limits) {
  WideCostModel m = wide_cost;
  m.bytes_per_cycle *= limits.memory * (limits.few_requests ? wide_limits.share_of_few_requests : 1);
  m.float64_instruction *= limits.float64;
  m.split_instruction *= limits.split, m.split_short_instruction *= limits.split;
  return m;
}

/// Every policy that fits into registers and shared memory, best first.
std::vector<ScoredWide> ranked(const GpuProblem& problem, const DeviceInfo& device, const WideCostModel& model) {
  std::vector<ScoredWide> all;
  WidePolicy k = shape_of(problem);
  for (const Arithmetic arithmetic : {Arithmetic::float64, Arithmetic::split})
    for (const int tiles : tile_counts)
      for (const int teams : team_counts)
        for (const int column_warps : column_warp_counts)
          for (const int boxes : box_counts) {
            k.arithmetic = arithmetic, k.tiles = tiles, k.teams = teams, k.column_warps = column_warps, k.boxes = boxes;
            if (serves(k) && fit_stages(k, device))
              all.push_back({k, cost_of(problem.problem, k, device.multiprocessors, model)});
          }
  // Of policies that cost the same, that of the smaller pieces.
  const auto key = [](const ScoredWide& s) {
    const WidePolicy& of = s.policy;
    return std::tuple(s.cost, of.arithmetic, of.tiles, of.teams, of.column_warps, of.boxes);
  };
  std::sort(all.begin(), all.end(), [&](const ScoredWide& a, const ScoredWide& b) { return key(a) < key(b); });
  return all;
}

/// Panels of X, and blocks of 16 scalars of K of all of them.
index_t panels_of(const Problem& problem, const WidePolicy& k) {
  return ceil_div(problem.p * parts_of(k.type), k.stage_scalars());
}
index_t k_blocks_of(const Problem& problem, const WidePolicy& k) { return panels_of(problem, k) * k.stage_blocks(); }

KernelPlan kernel_of(const Problem& problem, const DeviceInfo& device, const WidePolicy& k) {
  KernelPlan plan = plan_of("tsmm_wide", k);
  plan.grid = grid_of(ceil_div(problem.n, k.rows()), device.multiprocessors);
  plan.block = static_cast<unsigned>(k.threads());
  plan.shared_bytes = static_cast<std::size_t>(k.shared_bytes());
  plan.workspace_bytes = static_cast<std::size_t>(k_blocks_of(problem, k) * k.block_bytes());
  plan.budget = {register_cap(k.warps()), 256};
  return plan;
}

}  // namespace

index_t wide_widest(DType type) noexcept { return 128 / parts_of(type); }

std::vector<Candidate> wide_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool tsm2r = pr.operation == Operation::tsm2r;
  if ((pr.operation != Operation::tsmm && !tsm2r) || !device.features().bulk_copies) return {};
  if (pr.n < 1 || pr.n >= (index_t{1} << 31) || pr.q < 1 || pr.q > wide_widest(pr.type)) return {};
  // The copy engine wants lines a multiple of 16 bytes apart.
  const Form& x = problem.first;
  if (x.layout != Layout::row_major || x.alignment < 16 ||
      (x.contiguous && pr.p * static_cast<index_t>(size_of(pr.type)) % 16 != 0))
    return {};
  if (tsm2r) {
    // Rows are summed by one block alone, which starts at a column of its own.
    if (problem.determinism == Determinism::gpu_to_gpu) return {};
    if (pr.p < wide_limits.least_columns || size_of(pr.type) < wide_limits.least_element) return {};
    if (pr.n < wide_limits.least_rows_of_multiprocessor * device.multiprocessors) return {};
  } else if (pr.p <= tsmm_widest(pr.type, limits_of(device, Determinism::run_to_run))) {
    return {};
  }
  return candidates_of(
      ranked(problem, device, model_of(limits_of(device, problem.determinism))), pr, device,
      device.shared_bytes_per_block, [&](const ScoredWide& scored) { return scored.cost / device.clock; },
      [&](const ScoredWide& scored) { return kernel_of(pr, device, scored.policy); });
}

WideShape wide_shape(const GpuProblem& problem, const KernelPlan& plan) {
  const auto k = policy_of<WidePolicy>(plan);
  const Problem& pr = problem.problem;
  WideShape shape{k.rows(), panels_of(pr, k), k_blocks_of(pr, k), plan_of("wide_factor", k.factor())};
  shape.factor.block = WideFactorPolicy::threads;
  shape.factor.grid =
      static_cast<unsigned>(ceil_div(shape.k_blocks * k.column_blocks() * 32, WideFactorPolicy::threads));
  shape.factor.budget.registers = 64;
  return shape;
}

}  // namespace ts::inline v0::cuda
