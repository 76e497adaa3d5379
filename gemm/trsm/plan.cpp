#include "tallskinny/gemm/trsm/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {

namespace {

using Access = TrsmTiling::Access;

constexpr index_t most_pieces = 4, most_bytes = 48;  // of a row that a thread holds whole
constexpr index_t tile_row_bytes = 64;               // that a thread has under way at least

index_t shared_bytes(const Problem& pr, const TrsmTiling& t) {
  const auto size = static_cast<index_t>(size_of(pr.type));
  const index_t real = pr.type == DType::complex128 || pr.type == DType::complex64 ? size / 2 : size;
  const index_t padded = ceil_div(pr.p, t.columns) * t.columns;
  const index_t factor = padded * padded * size + padded * (size + real);
  const index_t tile = t.together * t.threads * (pr.p | 1) * size;
  return (t.factor_shared ? factor : 0) + (t.access == Access::staged ? tile : 0);
}

/// The tiling with what follows from its other numbers.
TrsmTiling completed(const Problem& pr, TrsmTiling t, const DeviceInfo& device) {
  const auto size = static_cast<index_t>(size_of(pr.type));
  const bool whole = t.access == Access::whole_rows;
  t.columns = whole ? pr.p : std::min<index_t>(pr.p, (t.access == Access::staged ? 64 : 32) / size);
  if (whole)
    t.together = 2;
  else if (t.access == Access::staged)
    t.together = std::max<index_t>(1, ceil_div(tile_row_bytes, pr.p * size));
  const index_t by_registers = std::max<index_t>(1, 512 / t.threads);  // 128 registers a thread
  const index_t by_shared = device.shared_bytes_per_multiprocessor / (shared_bytes(pr, t) + 1024);
  t.blocks = std::clamp<index_t>(by_shared, 1, by_registers);
  return t;
}

}  // namespace

std::vector<TrsmTiling> trsm_tilings(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool row_major = problem.first.layout == Layout::row_major;
  const bool narrow = pr.p / widest_piece(size_of(pr.type), problem.first, pr.p).count <= most_pieces &&
                      pr.p * static_cast<index_t>(size_of(pr.type)) <= most_bytes;
  std::vector<TrsmTiling> tilings;
  const auto add = [&](Access access, bool factor_shared, index_t threads) {
    const TrsmTiling t = completed(pr, {access, factor_shared, threads}, device);
    if (shared_bytes(pr, t) <= device.shared_bytes_per_block) tilings.push_back(t);
  };
  if (row_major && narrow) add(Access::whole_rows, true, 128);
  if (row_major)
    for (const index_t threads : {128, 64, 32}) add(Access::staged, true, threads);
  add(Access::in_place, true, 128);
  add(Access::in_place, false, 128);
  return tilings;
}

KernelPlan trsm_plan(const GpuProblem& problem, const TrsmTiling& t, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const Piece piece = widest_piece(size_of(pr.type), problem.first, pr.p);
  KernelPlan plan;
  plan.family = "trsm";
  plan.defines = {define(pr.type),
                  define("TS_P", pr.p),
                  define("TS_COLS", t.columns),
                  define("TS_ROWS", t.threads),
                  define("TS_TOGETHER", t.together),
                  define("TS_BLOCKS", t.blocks),
                  define("TS_ACCESS", static_cast<index_t>(t.access)),
                  define("TS_FACTOR_SHARED", t.factor_shared ? 1 : 0)};
  if (t.access == Access::whole_rows) {
    plan.defines.push_back(define("TS_VECTOR", piece.count));
    plan.defines.push_back(define("TS_ALIGN", piece.alignment));
  }
  plan.grid = grid_of(ceil_div(pr.n, t.together * t.threads), 4 * t.blocks * device.multiprocessors);
  plan.block = static_cast<unsigned>(t.threads);
  plan.shared_bytes = static_cast<std::size_t>(shared_bytes(pr, t));
  plan.budget = {static_cast<int>(std::min<index_t>(255, 65536 / (t.threads * t.blocks))), 0};
  return plan;
}

std::vector<Candidate> trsm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::trsm || pr.p < 1 || pr.type == DType::float16 || pr.type == DType::bfloat16)
    return {};
  const Limits limits = limits_of(pr, device);
  std::vector<Candidate> candidates;
  for (const TrsmTiling& t : trsm_tilings(problem, device)) {
    // What is not kept near costs passes over slower memory; few rows at once hide less of it.
    const bool own_order = t.access != Access::in_place || problem.first.layout == Layout::col_major;
    const double penalty = (own_order ? 1.0 : 8.0) * (t.factor_shared ? 1.0 : 4.0) *
                           (1.0 + 64.0 / static_cast<double>(t.threads * t.blocks * t.together));
    candidates.push_back(
        {trsm_plan(problem, t, device),
         penalty * std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds});
  }
  return candidates;
}

}  // namespace ts::cuda
