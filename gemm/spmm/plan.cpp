#include "tallskinny/gemm/spmm/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::cuda {

namespace {

constexpr index_t warp = 32;

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
  const index_t entries = pr.nonzeros > 0 && pr.n > 0 ? pr.nonzeros / pr.n : 8;
  // A lane takes up to 32 bytes of a row in up to four pieces: rows under way are worth more than lanes a
  // row. Fewer lanes where the last pass would leave a third of them or more without work.
  index_t lanes = std::min(warp, power_up(std::max(ceil_div(pr.q * element, 32), ceil_div(pieces, 4))));
  const auto idle = [&](index_t count) { return ceil_div(pieces, count) * count - pieces; };
  if (3 * idle(lanes) >= pieces && idle(lanes / 2) < idle(lanes)) lanes /= 2;
  const index_t passes = ceil_div(pieces, lanes), piece_bytes = piece.count * element;
  const index_t unroll = passes == 1 || passes * piece_bytes <= 24 ? 4 : 2;
  // As many blocks as registers allow: sums, what is under way, addresses.
  const index_t registers = (problem.shifted ? 2 : 1) * passes * piece.count * result_size(pr.type) / 4 +
                            unroll * (ceil_div(piece_bytes, 4) + ceil_div(element, 4) + pr.index_bytes / 4 + 2) +
                            (passes > 1 ? 40 : 32) + (strided(problem) ? problem.shifted ? 24 : 16 : 0);
  SpmmPolicy p;
  p.type = pr.type, p.q = static_cast<int>(pr.q), p.index_bytes = pr.index_bytes;
  p.conjugate = parts_of(pr.type) == 2 && problem.op == Op::adjoint;
  p.vector = piece.count, p.alignment = piece.alignment;
  p.out_alignment = std::min({16, problem.out.alignment, static_cast<int>(result_size(pr.type)) * piece.count});
  p.strided = strided(problem), p.shifted = problem.shifted;
  p.lanes = static_cast<int>(lanes), p.unroll = static_cast<int>(unroll);
  p.split = static_cast<int>(power_down(std::clamp<index_t>(entries / 8, 1, warp / lanes)));
  p.blocks = static_cast<int>(std::clamp<index_t>(65536 / p.threads / registers, 2, 6));
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
  c.kernel.budget = {65536 / policy.threads / policy.blocks, 0};
  c.seconds =
      (strided(problem) ? 2 : 1) * std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds;
  return {std::move(c)};
}

}  // namespace ts::cuda
