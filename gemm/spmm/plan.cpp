#include "tallskinny/gemm/spmm/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::cuda {

namespace {

constexpr index_t warp = 32;

/// How the lanes of a warp share rows, as measured on an H100 (docs/notes/spmm.md).
struct SpmmModel {
  index_t usual_entries = 8;  ///< of a row, where the problem does not say
  index_t lane_bytes = 32,
          lane_pieces = 4;      ///< of a row of X that a lane takes: rows under way are worth more than lanes
  index_t entries_of_lane = 8;  ///< a row is shared by as many groups of lanes as give each so many
  index_t idle_share = 3;       ///< fewer lanes, where the last pass would leave one in so many without work
  index_t unroll = 4, unroll_of_passes = 2;  ///< entries under way: few where several passes move many bytes
  index_t few_bytes_of_passes = 24;
  // Registers beside sums and what is under way: addresses.
  index_t beside = 32, beside_passes = 40, strided = 16, strided_shifted = 24;
  index_t least_blocks = 2, most_blocks = 6;  ///< of a multiprocessor
  index_t registers = 65536;
};
constexpr SpmmModel model;

constexpr index_t result_size(DType type) noexcept { return std::max<index_t>(4, static_cast<index_t>(size_of(type))); }
constexpr index_t power_up(index_t x) noexcept {
  return static_cast<index_t>(std::bit_ceil(static_cast<std::uint64_t>(x)));
}
constexpr index_t power_down(index_t x) noexcept {
  return static_cast<index_t>(std::bit_floor(static_cast<std::uint64_t>(x)));
}

bool strided(const GpuProblem& problem) noexcept {
  return problem.second.layout == Layout::col_major || problem.out.layout == Layout::col_major;
}
Piece piece_of(const GpuProblem& problem) noexcept {
  const Problem& pr = problem.problem;
  const Piece widest = widest_piece(size_of(pr.type), problem.second, pr.q);
  return strided(problem) ? Piece{1, std::min(widest.alignment, static_cast<int>(size_of(pr.type)))} : widest;
}

}  // namespace

index_t spmm_widest(DType type) noexcept {
  return warp * 64 / result_size(type);  // 64 bytes of sums a lane
}

SpmmPolicy spmm_policy(const GpuProblem& problem) {
  const Problem& pr = problem.problem;
  const Piece piece = piece_of(problem);
  const index_t pieces = pr.q / piece.count, element = static_cast<index_t>(size_of(pr.type));
  const index_t entries = pr.nonzeros > 0 && pr.n > 0 ? pr.nonzeros / pr.n : model.usual_entries;
  index_t lanes = std::min(
      warp, power_up(std::max(ceil_div(pr.q * element, model.lane_bytes), ceil_div(pieces, model.lane_pieces))));
  const auto idle = [&](index_t count) { return ceil_div(pieces, count) * count - pieces; };
  if (model.idle_share * idle(lanes) >= pieces && idle(lanes / 2) < idle(lanes)) lanes /= 2;
  const index_t passes = ceil_div(pieces, lanes), piece_bytes = piece.count * element;
  const bool few_bytes = passes == 1 || passes * piece_bytes <= model.few_bytes_of_passes;
  const index_t unroll = few_bytes ? model.unroll : model.unroll_of_passes;
  // As many blocks as registers allow.
  const index_t registers = (problem.shifted ? 2 : 1) * passes * piece.count * result_size(pr.type) / 4 +
                            unroll * (ceil_div(piece_bytes, 4) + ceil_div(element, 4) + pr.index_bytes / 4 + 2) +
                            (passes > 1 ? model.beside_passes : model.beside) +
                            (strided(problem) ? problem.shifted ? model.strided_shifted : model.strided : 0);
  SpmmPolicy p;
  p.type = pr.type, p.q = static_cast<int>(pr.q), p.index_bytes = pr.index_bytes;
  p.conjugate = parts_of(pr.type) == 2 && problem.op == Op::adjoint;
  p.vector = piece.count, p.alignment = piece.alignment;
  p.out_alignment = std::min({16, problem.out.alignment, static_cast<int>(result_size(pr.type)) * piece.count});
  p.strided = strided(problem), p.shifted = problem.shifted;
  p.lanes = static_cast<int>(lanes), p.unroll = static_cast<int>(unroll);
  p.split = static_cast<int>(power_down(std::clamp<index_t>(entries / model.entries_of_lane, 1, warp / lanes)));
  p.blocks = static_cast<int>(
      std::clamp<index_t>(model.registers / p.threads / registers, model.least_blocks, model.most_blocks));
  return p;
}

KernelPlan spmm_long_plan(const GpuProblem& problem, index_t parts) {
  SpmmPolicy policy = spmm_policy(problem);
  policy.split = SpmmPolicy{}.split, policy.blocks = SpmmPolicy{}.blocks;  // of which this kernel knows nothing
  KernelPlan plan = plan_of("spmm_long", policy);
  plan.grid = grid_of(parts, INT32_MAX);
  plan.block = policy.threads;
  plan.shared_bytes = static_cast<std::size_t>(policy.long_shared_bytes());
  plan.workspace_bytes = static_cast<std::size_t>(parts) * static_cast<std::size_t>(policy.row_bytes());
  plan.budget = {128, 64};
  return plan;
}

std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::spmm || pr.q < 1 || pr.q > spmm_widest(pr.type)) return {};
  const LeastTimes limits = least_times(pr, device);
  Candidate c;
  const SpmmPolicy policy = spmm_policy(problem);
  c.kernel = plan_of("spmm_rows", policy);
  c.kernel.grid = grid_of(ceil_div(pr.n, policy.threads / policy.group()), INT32_MAX);
  c.kernel.block = policy.threads;
  c.kernel.budget = {static_cast<int>(model.registers) / policy.threads / policy.blocks, 0};
  c.seconds =
      (strided(problem) ? 2 : 1) * std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds;
  return {std::move(c)};
}

}  // namespace ts::cuda
