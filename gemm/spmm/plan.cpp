#include "tallskinny/gemm/spmm/plan.hpp"

#include <algorithm>
#include <bit>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {

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
  // By parts: one pass unless so many of 16 lanes would idle; bytes that a lane has under way.
  index_t idle_of_16 = 6, bytes_under_way = 64, more_under_way = 128, beside_parts = 28, beside_wide_parts = 44;
  // What rows of X cost that are far from each other: the share of the memory's rate that each kernel reaches. By whole
  // rows it is less where a row of X has few bytes, and in several passes.
  double rows_gather = 0.95, rows_gather_of_few = 0.7, rows_gather_of_passes = 0.75, parts_gather = 0.85;
  index_t few_bytes_of_row = 40;
  double parts_overhead = 1.25;   ///< of a part, against whole rows of one length
  double behind = 0.01;           ///< what the model cannot tell apart
  double uneven = 0.4;            ///< of whole rows: what 100 % of unevenness add
  double entry_seconds = 0.7e-6;  ///< of entries of a row that wait for each other
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

SpmmPolicy spmm_policy(const GpuProblem& problem, index_t wished_lanes) {
  const Problem& pr = problem.problem;
  const Piece piece = piece_of(problem);
  const index_t pieces = pr.q / piece.count, element = static_cast<index_t>(size_of(pr.type));
  const index_t entries = problem.sparse.of_row > 0     ? problem.sparse.of_row
                          : pr.nonzeros > 0 && pr.n > 0 ? pr.nonzeros / pr.n
                                                        : model.usual_entries;
  index_t lanes = std::min(
      warp, power_up(std::max(ceil_div(pr.q * element, model.lane_bytes), ceil_div(pieces, model.lane_pieces))));
  const auto idle = [&](index_t count) { return ceil_div(pieces, count) * count - pieces; };
  if (model.idle_share * idle(lanes) >= pieces && idle(lanes / 2) < idle(lanes)) lanes /= 2;
  if (wished_lanes > 0) lanes = wished_lanes;
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
  // At gpu_to_gpu the order of sums depends on neither alignment nor where X lies: as many lanes as there may be.
  const bool anywhere = problem.determinism == Determinism::gpu_to_gpu;
  const index_t most_lanes =
      anywhere ? std::max(lanes, std::min(warp, power_up(ceil_div(pr.q, model.lane_pieces)))) : lanes;
  p.split = static_cast<int>(power_down(std::clamp<index_t>(entries / model.entries_of_lane, 1, warp / most_lanes)));
  p.blocks = static_cast<int>(
      std::clamp<index_t>(model.registers / p.threads / registers, model.least_blocks, model.most_blocks));
  return p;
}

namespace {

/// Lanes of a team that takes a row of X in as few passes as leave few lanes idle.
index_t lanes_of_one_pass(index_t pieces) {
  index_t lanes = std::min(warp, power_up(pieces));
  const auto idles = [&](index_t count) {
    return 16 * (ceil_div(pieces, count) * count - pieces) > model.idle_of_16 * ceil_div(pieces, count) * count;
  };
  while (lanes > 1 && idles(lanes)) lanes /= 2;
  return lanes;
}

/// spmm_parts with so many bytes of X under way in a lane.
SpmmPolicy parts_policy(const GpuProblem& problem, const DeviceInfo& device, index_t lanes, index_t under_way) {
  const Problem& pr = problem.problem;
  SpmmPolicy p = spmm_policy(problem);
  p.by_parts = true, p.split = 0, p.lanes = static_cast<int>(lanes);
  const index_t piece_bytes = p.vector * static_cast<index_t>(size_of(pr.type));
  const index_t bytes = p.passes() * piece_bytes;
  // Halves are widened beside the column numbers and what a shift adds: where there is that, fewer are under way.
  const bool halves = size_of(pr.type) == 2, long_halves = pr.index_bytes == 8 && halves;
  const index_t most = long_halves || (halves && p.shifted && p.vector == 8) ? 4 : 8;
  p.unroll = static_cast<int>(std::clamp<index_t>(power_down(std::max<index_t>(under_way / bytes, 1)), 1, most));
  const index_t sums = p.passes() * p.vector * result_size(pr.type) / 4;
  const index_t words = p.passes() * std::max<index_t>(piece_bytes / 4, 2);
  const index_t registers = 3 * sums + p.unroll * (words + pr.index_bytes / 4) +
                            ceil_div(static_cast<index_t>(size_of(pr.type)), 2) +
                            (p.passes() > 1 || p.shifted || p.strided ? model.beside_wide_parts : model.beside_parts) +
                            device.features().more_registers;
  p.blocks = static_cast<int>(std::clamp<index_t>(model.registers / p.threads / registers, model.least_blocks,
                                                  long_halves ? model.least_blocks + 1 : model.most_blocks));
  return p;
}

KernelPlan kernel_of(const SpmmPolicy& policy, index_t parts, index_t rows) {
  KernelPlan plan = plan_of(policy.by_parts ? "spmm_parts" : "spmm_rows", policy);
  plan.grid = grid_of(
      policy.by_parts ? ceil_div(parts, policy.threads / warp) : ceil_div(rows, policy.threads / policy.group()),
      INT32_MAX);
  plan.block = policy.threads;
  plan.budget = {static_cast<int>(model.registers) / policy.threads / policy.blocks,
                 policy.by_parts ? policy.part_bytes() * policy.threads / static_cast<int>(warp) : 0};
  if (policy.by_parts)
    plan.workspace_bytes = static_cast<std::size_t>(parts) * static_cast<std::size_t>(policy.row_bytes());
  return plan;
}

/// The time to read A, to write Y, so many times the least, and to fetch rows of X from all over the memory, at this
/// share of its rate.
double seconds_of(const GpuProblem& problem, const LeastTimes& limits, double overhead, double gather_share) {
  const Problem& pr = problem.problem;
  const double rate = cost_of(pr).bytes() / limits.memory_seconds, row = static_cast<double>(pr.q * size_of(pr.type));
  const double fetched = static_cast<double>(pr.nonzeros) * problem.sparse.scattered / 100 * std::max(row, 64.0);
  const double again = std::max(0.0, fetched - static_cast<double>(pr.p) * row);
  return overhead * std::max(limits.memory_seconds, limits.arithmetic_seconds) + again / rate / gather_share;
}

double rows_seconds(const GpuProblem& problem, const LeastTimes& limits, const SpmmPolicy& policy) {
  const SparseFacts& a = problem.sparse;
  const double uneven = policy.group() == warp ? 0 : model.uneven * a.uneven / 100;
  const double gather = (problem.problem.q * size_of(policy.type) < model.few_bytes_of_row ? model.rows_gather_of_few
                                                                                           : model.rows_gather) *
                        (policy.passes() > 1 ? model.rows_gather_of_passes : 1);
  const double longest = static_cast<double>(a.longest) / (policy.split * policy.unroll) * model.entry_seconds;
  return (policy.strided ? 2 : 1) * std::max(seconds_of(problem, limits, 1, gather) * (1 + uneven), longest);
}

}  // namespace

KernelPlan spmm_splits_plan(const SpmmPolicy& parts, const SparseFacts& a) {
  SpmmPolicy policy = parts;  // less what this kernel does not know of
  policy.lanes = policy.vector = policy.unroll = 1, policy.blocks = SpmmPolicy{}.blocks;
  policy.alignment = static_cast<int>(size_of(policy.type)) / parts_of(policy.type);
  policy.out_alignment = scalar_bytes(result_type_of(policy.type));
  policy.shifted = policy.conjugate = false;
  KernelPlan plan = plan_of("spmm_splits", policy);
  plan.grid = grid_of(a.long_splits + ceil_div((a.splits - a.long_splits) * policy.q, policy.threads), INT32_MAX);
  plan.block = policy.threads;
  plan.budget = {64, policy.threads * 16};
  return plan;
}

std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::spmm || pr.q < 1 || pr.q > spmm_widest(pr.type)) return {};
  const LeastTimes limits = least_times(pr, device);
  const SpmmPolicy rows = spmm_policy(problem);
  const index_t lanes = lanes_of_one_pass(pr.q / rows.vector);
  std::vector<Candidate> all;
  const auto add = [&](const SpmmPolicy& policy, double seconds) {
    Candidate candidate{kernel_of(policy, problem.sparse.parts, pr.n), seconds};
    const auto same = [&](const Candidate& c) { return c.kernel == candidate.kernel; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(candidate));
  };
  double rank = 1;  // the usual one comes first
  std::vector<SpmmPolicy> by_rows = {rows, spmm_policy(problem, lanes)};
  if (rows.lanes == 1 && rows.passes() == 1 && rows.split > 1)  // more lanes read whole sectors of A
    for (const int more : {2, 4})
      if (by_rows.push_back(rows); rows.split * more <= warp) by_rows.back().split *= more;
  for (const SpmmPolicy& policy : by_rows) {
    add(policy, rank * rows_seconds(problem, limits, policy) + device.launch_seconds);
    rank += model.behind;
  }
  const SparseFacts& a = problem.sparse;
  // At gpu_to_gpu parts would depend on how many ranks share the rows.
  if (a.parts == 0 || problem.determinism == Determinism::gpu_to_gpu) return {std::move(all.front())};
  rank = 1;
  const double seconds = (rows.strided ? 2 : 1) * seconds_of(problem, limits, model.parts_overhead, model.parts_gather);
  // Of one piece, half of what a team has: with fewer registers, more blocks hide what they wait for.
  const auto piece_bytes = static_cast<index_t>(rows.vector * size_of(rows.type));
  const bool has_registers = piece_bytes >= 4 && rows.index_bytes == 4 && parts_of(rows.type) == 1 && !rows.shifted &&
                             !rows.strided && device.features().spare_registers;
  const index_t few = lanes == 1 && rows.passes() == 1 && has_registers ? 4 * piece_bytes : model.bytes_under_way;
  for (const index_t some : {lanes, std::max<index_t>(lanes / 2, 1)})
    for (const index_t under_way : {model.bytes_under_way, model.more_under_way, few}) {
      add(parts_policy(problem, device, some, under_way), rank * seconds + 2 * device.launch_seconds);
      rank += model.behind;
    }
  return all;
}

KernelPlan plan_residual(DType type, int index_bytes, index_t rows, index_t of_row) {
  ResidualPolicy policy{type, index_bytes};
  policy.split =
      static_cast<int>(power_down(std::clamp<index_t>(of_row / model.entries_of_lane, 1, warp / policy.lanes)));
  KernelPlan plan = plan_of("residual_rows", policy);
  plan.grid = grid_of(ceil_div(rows, policy.threads / policy.group()), INT32_MAX);
  plan.block = policy.threads;
  plan.budget = {static_cast<int>(model.registers) / policy.threads / policy.blocks(), policy.shared_bytes()};
  return plan;
}

}  // namespace ts::inline v0::cuda
