#include "tallskinny/gemm/trsm/cuda/trsm_kernel.hpp"

#include "tallskinny/gemm/backend/cuda/geometry.hpp"

namespace ts::cuda {

namespace {

struct Choice {
  index_t rows;
  bool staged, factor_shared;
};

Candidate candidate_of(const GpuProblem& problem, const DeviceInfo& device, const Choice& choice) {
  const Problem& pr = problem.problem;
  const auto size = static_cast<index_t>(size_of(pr.type));
  const index_t cols = std::min<index_t>(pr.p, 64 / size);  // 64 bytes of registers
  const index_t padded = ceil_div(pr.p, cols) * cols;
  const index_t real = pr.type == DType::complex128 || pr.type == DType::complex64 ? size / 2 : size;
  const index_t shared = (choice.factor_shared ? padded * padded * size + padded * (size + real) : 0) +
                         (choice.staged ? choice.rows * (pr.p | 1) * size : 0);
  const index_t by_shared = device.shared_bytes_per_multiprocessor / (shared + 1024);
  const index_t by_registers = std::max<index_t>(1, 512 / choice.rows);  // 128 registers a thread
  const index_t blocks = std::clamp<index_t>(by_shared, 1, by_registers);

  Candidate c;
  c.kernel.family = "trsm";
  c.kernel.defines = {define(pr.type),
                      define("TS_P", pr.p),
                      define("TS_COLS", cols),
                      define("TS_ROWS", choice.rows),
                      define("TS_BLOCKS", by_registers),
                      define("TS_STAGED", choice.staged ? 1 : 0),
                      define("TS_FACTOR_SHARED", choice.factor_shared ? 1 : 0)};
  c.kernel.grid = grid_of(ceil_div(pr.n, choice.rows), 2 * blocks * device.multiprocessors);
  c.kernel.block = static_cast<unsigned>(choice.rows);
  c.kernel.shared_bytes = static_cast<std::size_t>(shared);
  c.kernel.budget = {static_cast<int>(65536 / (choice.rows * by_registers)), 0};
  const Limits limits = limits_of(pr, device);
  // What is not kept near costs passes over slower memory; few rows at once hide less of it.
  const double penalty = (choice.staged || problem.first.layout == Layout::col_major ? 1.0 : 8.0) *
                         (choice.factor_shared ? 1.0 : 4.0) *
                         (1.0 + 32.0 / static_cast<double>(choice.rows * blocks));
  c.seconds = penalty * std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds;
  return c;
}

}  // namespace

std::vector<Candidate> trsm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::trsm || pr.p < 1 || pr.type == DType::float16 || pr.type == DType::bfloat16)
    return {};
  std::vector<Candidate> candidates;
  for (const bool staged : {true, false})
    for (const bool factor_shared : {true, false})
      for (const index_t rows : {128, 64, 32}) {
        if (staged && (problem.first.layout == Layout::col_major || !factor_shared)) continue;
        Candidate c = candidate_of(problem, device, {rows, staged, factor_shared});
        if (c.kernel.shared_bytes <= static_cast<std::size_t>(device.shared_bytes_per_block))
          candidates.push_back(std::move(c));
      }
  return candidates;
}

}  // namespace ts::cuda
