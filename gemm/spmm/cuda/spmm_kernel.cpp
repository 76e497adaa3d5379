#include "tallskinny/gemm/spmm/cuda/spmm_kernel.hpp"

#include "tallskinny/gemm/backend/cuda/geometry.hpp"

namespace ts::cuda {

namespace {

constexpr index_t warp = 32, threads = 256;

constexpr std::size_t result_size(DType type) noexcept {
  return std::max<std::size_t>(4, size_of(type));
}

}  // namespace

index_t spmm_widest(DType type) noexcept {
  return warp * 64 / static_cast<index_t>(result_size(type));  // 64 bytes of sums a lane
}

std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::spmm || problem.op != Op::none || pr.q < 1 || pr.q > spmm_widest(pr.type))
    return {};
  const bool strided = problem.second.layout == Layout::col_major || problem.out.layout == Layout::col_major;
  const Piece from = widest_piece(size_of(pr.type), problem.second, pr.q);
  const int vector = strided ? 1 : from.count;
  const auto out_bytes = static_cast<int>(result_size(pr.type)) * vector;
  const index_t lanes =
      std::min(warp, static_cast<index_t>(std::bit_ceil(static_cast<std::uint64_t>(pr.q / vector))));
  const index_t passes = ceil_div(pr.q, vector * lanes);
  const index_t entries = pr.nonzeros > 0 && pr.n > 0 ? std::max<index_t>(1, pr.nonzeros / pr.n) : 8;
  const auto split = static_cast<index_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<index_t>(entries / 2, 1, warp / lanes))));

  Candidate c;
  c.kernel.family = "spmm_rows";
  c.kernel.defines = {
      define(pr.type),
      define("TS_Q", pr.q),
      define("TS_INDEX_BYTES", pr.index_bytes),
      define("TS_VECTOR", vector),
      define("TS_ALIGN", std::min(from.alignment, vector * static_cast<int>(size_of(pr.type)))),
      define("TS_OUT_ALIGN", std::min({16, problem.out.alignment, out_bytes})),
      define("TS_LANES", lanes),
      define("TS_SPLIT", split),
      define("TS_PASSES", passes),
      define("TS_UNROLL", passes > 1 ? 2 : 4),
      define("TS_STRIDED", strided ? 1 : 0)};
  c.kernel.grid = grid_of(ceil_div(pr.n, threads / (lanes * split)), INT32_MAX);
  c.kernel.block = threads;
  c.kernel.budget = {128, 0};
  const Limits limits = limits_of(pr, device);
  c.seconds =
      (strided ? 2 : 1) * std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds;
  return {std::move(c)};
}

}  // namespace ts::cuda
