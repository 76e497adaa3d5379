#include "tallskinny/gemm/spmm/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {

namespace {

constexpr index_t warp = 32, threads = 256;

constexpr index_t result_size(DType type) noexcept {
  return std::max<index_t>(4, static_cast<index_t>(size_of(type)));
}
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

SpmmTiling spmm_tiling(const GpuProblem& problem) {
  const Problem& pr = problem.problem;
  const Piece piece = piece_of(problem);
  const index_t pieces = pr.q / piece.count, element = static_cast<index_t>(size_of(pr.type));
  const index_t entries = pr.nonzeros > 0 && pr.n > 0 ? pr.nonzeros / pr.n : 8;
  SpmmTiling t;
  // A lane takes up to 32 bytes of a row in up to four pieces: rows under way are worth more than lanes a
  // row. Fewer lanes where the last pass would leave a third of them or more without work.
  t.lanes = std::min(warp, power_up(std::max(ceil_div(pr.q * element, 32), ceil_div(pieces, 4))));
  const auto idle = [&](index_t lanes) { return ceil_div(pieces, lanes) * lanes - pieces; };
  if (3 * idle(t.lanes) >= pieces && idle(t.lanes / 2) < idle(t.lanes)) t.lanes /= 2;
  t.split = power_down(std::clamp<index_t>(entries / 8, 1, warp / t.lanes));
  const index_t passes = ceil_div(pieces, t.lanes), piece_bytes = piece.count * element;
  t.unroll = passes == 1 || passes * piece_bytes <= 24 ? 4 : 2;
  // As many blocks as registers allow: sums, what is under way, addresses.
  const index_t registers =
      (problem.shifted ? 2 : 1) * passes * piece.count * result_size(pr.type) / 4 +
      t.unroll * (ceil_div(piece_bytes, 4) + ceil_div(element, 4) + pr.index_bytes / 4 + 2) +
      (passes > 1 ? 40 : 32) + (strided(problem) ? problem.shifted ? 24 : 16 : 0);
  t.blocks = std::clamp<index_t>(65536 / threads / registers, 2, 6);
  return t;
}

namespace {

/// What both kernels take: spmm/kernels/sparse_row.cuh.
Defines row_defines(const GpuProblem& problem, const SpmmTiling& t) {
  const Problem& pr = problem.problem;
  const Piece piece = piece_of(problem);
  const int out_bytes = static_cast<int>(result_size(pr.type)) * piece.count;
  const bool complex = pr.type == DType::complex128 || pr.type == DType::complex64;
  return {define(pr.type),
          define("TS_Q", pr.q),
          define("TS_INDEX_BYTES", pr.index_bytes),
          define("TS_CONJUGATE", complex && problem.op == Op::adjoint),
          define("TS_VECTOR", piece.count),
          define("TS_ALIGN", piece.alignment),
          define("TS_OUT_ALIGN", std::min({16, problem.out.alignment, out_bytes})),
          define("TS_LANES", t.lanes),
          define("TS_PASSES", ceil_div(pr.q, piece.count * t.lanes)),
          define("TS_UNROLL", t.unroll),
          define("TS_STRIDED", strided(problem)),
          define("TS_SHIFTED", problem.shifted)};
}

}  // namespace

KernelPlan spmm_plan(const GpuProblem& problem, const SpmmTiling& t) {
  KernelPlan plan;
  plan.family = "spmm_rows";
  plan.defines = row_defines(problem, t);
  plan.defines.push_back(define("TS_SPLIT", t.split));
  plan.defines.push_back(define("TS_BLOCKS", t.blocks));
  plan.grid = grid_of(ceil_div(problem.problem.n, threads / (t.lanes * t.split)), INT32_MAX);
  plan.block = threads;
  plan.budget = {static_cast<int>(65536 / threads / t.blocks), 0};
  return plan;
}

KernelPlan spmm_long_plan(const GpuProblem& problem, index_t parts) {
  const SpmmTiling t = spmm_tiling(problem);
  const auto row_bytes = static_cast<std::size_t>(problem.problem.q * result_size(problem.problem.type));
  KernelPlan plan;
  plan.family = "spmm_long";
  plan.defines = row_defines(problem, t);
  plan.grid = grid_of(parts, INT32_MAX);
  plan.block = threads;
  plan.shared_bytes = static_cast<std::size_t>(threads / t.lanes) * row_bytes;
  plan.workspace_bytes = static_cast<std::size_t>(parts) * row_bytes;
  plan.budget = {128, 64};
  return plan;
}

std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::spmm || pr.q < 1 || pr.q > spmm_widest(pr.type)) return {};
  const Limits limits = limits_of(pr, device);
  Candidate c;
  c.kernel = spmm_plan(problem, spmm_tiling(problem));
  c.seconds = (strided(problem) ? 2 : 1) * std::max(limits.memory_seconds, limits.arithmetic_seconds) +
              device.launch_seconds;
  return {std::move(c)};
}

}  // namespace ts::cuda
