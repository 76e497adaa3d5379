#include "tallskinny/gemm/norms/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Blocks of each of 24 parts, on every device: 2 x 396, which 132 multiprocessors hold.
constexpr index_t part_blocks = 33;

}  // namespace

KernelPlan plan_norms_of_parts(DType type, index_t columns) {
  const NormsOfPartsPolicy policy{type};
  KernelPlan plan = plan_of("norms_of_parts", policy);
  plan.grid = grid_of(ceil_div(columns, policy.threads), INT32_MAX);
  plan.block = policy.threads;
  plan.budget = {128, 0};
  return plan;
}

ColumnNormsPolicy column_norms_policy(const GpuProblem& problem) {
  const index_t n = problem.problem.n, p = problem.problem.p;
  const std::size_t size = size_of(problem.problem.type);
  ColumnNormsPolicy policy{problem.problem.type, static_cast<int>(p)};
  policy.parts = problem.parts > 0;
  Form form = problem.first;
  const bool col_major = form.layout == Layout::col_major;
  if (col_major && p > 1)  // every column's
    form.alignment = std::min(form.alignment, common_power(n * static_cast<index_t>(size), 256));
  const Piece widest = widest_piece(size, form, 16);
  const int fold = widest.count / common_power(p, widest.count);
  if (col_major) {
    policy.tile = 1, policy.fold = policy.vector = widest.count, policy.alignment = widest.alignment;
  } else if (form.contiguous && fold * p / widest.count <= policy.threads) {
    policy.tile = policy.columns, policy.fold = fold, policy.vector = widest.count, policy.alignment = widest.alignment;
  } else {
    const Piece piece = widest_piece(size, form, p);
    policy.tile = std::min(policy.columns, policy.threads * piece.count);
    policy.vector = piece.count, policy.alignment = piece.alignment;
  }
  return policy;
}

std::vector<Candidate> column_norms_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::column_norms || pr.p < 1) return {};
  const ColumnNormsPolicy policy = column_norms_policy(problem);
  const index_t blocks = problem.determinism == Determinism::gpu_to_gpu
                             ? part_blocks
                             : index_t{policy.blocks_at_once} * device.multiprocessors;
  const index_t blocks_a_tile =
      std::clamp<index_t>(ceil_div(pr.n / policy.fold, policy.lines_at_once() * policy.unroll), 1,
                          std::max<index_t>(1, blocks / policy.tiles()));
  const index_t parts = std::max<index_t>(1, problem.parts);
  Candidate c;
  c.kernel = plan_of("column_norms", policy);
  c.kernel.grid = grid_of(parts * policy.tiles() * blocks_a_tile, INT32_MAX);
  c.kernel.block = policy.threads;
  c.kernel.workspace_bytes = static_cast<std::size_t>(parts * blocks_a_tile * pr.p * numbers_of_a_norm(pr.type) * 8);
  c.kernel.budget = {80, policy.shared_bytes()};
  const LeastTimes limits = least_times(pr, device);
  c.seconds = std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds;
  return {std::move(c)};
}

}  // namespace ts::inline v0::cuda
