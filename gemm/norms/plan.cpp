#include "tallskinny/gemm/norms/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {

namespace {

constexpr int threads = 256, unroll = 4;
constexpr index_t blocks_at_once = 3;  // on a multiprocessor, by the kernel's launch bounds
constexpr index_t part_blocks =
    33;  // of each of 24 parts, on every device: 2 x 396, which 132 multiprocessors hold

}  // namespace

index_t numbers_of_a_norm(DType type) noexcept {
  return type == DType::float64 || type == DType::complex128 ? 3 : 1;
}

KernelPlan plan_norms_of_parts(DType type, index_t columns) {
  KernelPlan plan;
  plan.family = "norms_of_parts";
  plan.defines = {define(type)};
  plan.grid = grid_of(ceil_div(columns, threads), INT32_MAX);
  plan.block = threads;
  plan.budget = {128, 0};
  return plan;
}

ColumnNormsShape column_norms_shape(const GpuProblem& problem, const DeviceInfo& device) {
  const index_t n = problem.problem.n, p = problem.problem.p;
  const auto size = static_cast<index_t>(size_of(problem.problem.type));
  Form form = problem.first;
  const bool col_major = form.layout == Layout::col_major;
  if (col_major && p > 1)
    form.alignment = std::min(form.alignment, common_power(n * size, 256));  // every column's
  const Piece widest = widest_piece(static_cast<std::size_t>(size), form, 16);
  const int fold = widest.count / common_power(p, widest.count);

  ColumnNormsShape s;
  if (col_major) {
    s.tile = 1, s.fold = s.vector = widest.count, s.alignment = widest.alignment;
  } else if (form.contiguous && fold * p / widest.count <= threads) {
    s.tile = p, s.fold = fold, s.vector = widest.count, s.alignment = widest.alignment;
  } else {
    const Piece piece = widest_piece(static_cast<std::size_t>(size), form, p);
    s.tile = std::min<index_t>(p, index_t{threads} * piece.count);
    s.vector = piece.count, s.alignment = piece.alignment;
  }
  s.lines = n / s.fold, s.rest = n % s.fold;
  s.tiles = ceil_div(p, s.tile);
  const index_t lines_at_once = threads / (s.fold * s.tile / s.vector);
  const index_t blocks =
      problem.determinism == Determinism::gpu_to_gpu ? part_blocks : blocks_at_once * device.multiprocessors;
  s.blocks_a_tile = std::clamp<index_t>(ceil_div(s.lines, lines_at_once * unroll), 1,
                                        std::max<index_t>(1, blocks / s.tiles));
  return s;
}

std::vector<Candidate> column_norms_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::column_norms || pr.p < 1) return {};
  const ColumnNormsShape s = column_norms_shape(problem, device);
  const auto sum_bytes =
      static_cast<int>(sizeof(double) * static_cast<std::size_t>(numbers_of_a_norm(pr.type)));
  Candidate c;
  c.kernel.family = "column_norms";
  c.kernel.defines = {define(pr.type),
                      define("TS_P", pr.p),
                      define("TS_TILE", s.tile),
                      define("TS_FOLD", s.fold),
                      define("TS_VECTOR", s.vector),
                      define("TS_ALIGN", s.alignment),
                      define("TS_PARTS", problem.parts > 0)};
  const index_t parts = std::max<index_t>(1, problem.parts);
  c.kernel.grid = grid_of(parts * s.tiles * s.blocks_a_tile, INT32_MAX);
  c.kernel.block = threads;
  c.kernel.workspace_bytes = static_cast<std::size_t>(parts * s.blocks_a_tile * pr.p * sum_bytes);
  c.kernel.budget = {80, threads * s.vector * sum_bytes + 16};
  const Limits limits = limits_of(pr, device);
  c.seconds = std::max(limits.memory_seconds, limits.arithmetic_seconds) + device.launch_seconds;
  return {std::move(c)};
}

}  // namespace ts::cuda
