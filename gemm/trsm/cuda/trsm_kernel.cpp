#include "tallskinny/gemm/trsm/cuda/trsm_kernel.hpp"

#include "tallskinny/gemm/backend/cuda/geometry.hpp"

namespace ts::cuda {

namespace {

enum class Access { in_place = 0, staged = 1, whole_rows = 2 };  // as the kernel numbers them

struct Choice {
  Access access;
  bool factor_shared;
  index_t rows;
};

constexpr index_t narrow_bytes = 64;  // a row that a thread may hold whole

Candidate candidate_of(const GpuProblem& problem, const DeviceInfo& device, const Choice& choice) {
  const Problem& pr = problem.problem;
  const auto size = static_cast<index_t>(size_of(pr.type));
  const bool whole = choice.access == Access::whole_rows, staged = choice.access == Access::staged;
  const index_t cols = whole ? pr.p : std::min<index_t>(pr.p, 64 / size);  // 64 bytes of registers
  const index_t padded = ceil_div(pr.p, cols) * cols;
  const index_t real = pr.type == DType::complex128 || pr.type == DType::complex64 ? size / 2 : size;
  const index_t shared = (choice.factor_shared ? padded * padded * size + padded * (size + real) : 0) +
                         (staged ? choice.rows * (pr.p | 1) * size : 0);
  const index_t by_shared = device.shared_bytes_per_multiprocessor / (shared + 1024);
  const index_t by_registers = std::max<index_t>(1, 512 / choice.rows);  // 128 registers a thread
  const index_t blocks = std::clamp<index_t>(by_shared, 1, by_registers);
  const Piece piece = widest_piece(size_of(pr.type), problem.first, pr.p);

  Candidate c;
  c.kernel.family = "trsm";
  c.kernel.defines = {define(pr.type),
                      define("TS_P", pr.p),
                      define("TS_COLS", cols),
                      define("TS_ROWS", choice.rows),
                      define("TS_BLOCKS", blocks),
                      define("TS_ACCESS", static_cast<index_t>(choice.access)),
                      define("TS_FACTOR_SHARED", choice.factor_shared ? 1 : 0)};
  if (whole) {
    c.kernel.defines.push_back(define("TS_VECTOR", piece.count));
    c.kernel.defines.push_back(define("TS_ALIGN", piece.alignment));
  }
  c.kernel.grid = grid_of(ceil_div(pr.n, choice.rows), 4 * blocks * device.multiprocessors);
  c.kernel.block = static_cast<unsigned>(choice.rows);
  c.kernel.shared_bytes = static_cast<std::size_t>(shared);
  c.kernel.budget = {static_cast<int>(std::min<index_t>(255, 65536 / (choice.rows * blocks))), 0};
  const Limits limits = limits_of(pr, device);
  // What is not kept near costs passes over slower memory; few rows at once hide less of it.
  const bool own_order = staged || whole || problem.first.layout == Layout::col_major;
  const double penalty = (own_order ? 1.0 : 8.0) * (choice.factor_shared ? 1.0 : 4.0) *
                         (staged ? 1.05 : 1.0) * (1.0 + 32.0 / static_cast<double>(choice.rows * blocks));
  c.seconds = penalty * std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds;
  return c;
}

}  // namespace

std::vector<Candidate> trsm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::trsm || pr.p < 1 || pr.type == DType::float16 || pr.type == DType::bfloat16)
    return {};
  const bool row_major = problem.first.layout == Layout::row_major;
  const bool narrow = pr.p * static_cast<index_t>(size_of(pr.type)) < narrow_bytes;
  std::vector<Candidate> candidates;
  for (const Access access : {Access::whole_rows, Access::staged, Access::in_place})
    for (const bool factor_shared : {true, false})
      for (const index_t rows : {128, 64, 32}) {
        const bool in_place = access == Access::in_place;
        if (!in_place && (!row_major || !factor_shared)) continue;
        if (access == Access::whole_rows && (!narrow || rows != 128)) continue;
        Candidate c = candidate_of(problem, device, {access, factor_shared, rows});
        if (c.kernel.shared_bytes <= static_cast<std::size_t>(device.shared_bytes_per_block))
          candidates.push_back(std::move(c));
      }
  return candidates;
}

}  // namespace ts::cuda
