#include "tallskinny/gemm/tsmm/wide_plan.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/plan_constant.hpp"
#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/gemm/tsmm/update_plan.hpp"

namespace ts::cuda {
namespace {

constexpr int line_bytes = 128, box_lines = 256;  ///< of a box; lines at most
constexpr int block_bytes = 1024;                 ///< of 16 scalars of K and 8 columns of S

struct WideTiling {
  bool split = false;    ///< 3xTF32 instead of float64
  int tiles = 1;         ///< of 16 rows of a warp
  int teams = 8;         ///< of warps that have rows of their own
  int column_warps = 1;  ///< that share them
  int boxes = 1, stages = 4;
  double cost = 0;  ///< of the model: lower is better

  [[nodiscard]] int warps() const noexcept { return teams * column_warps; }
  [[nodiscard]] int rows() const noexcept { return 16 * tiles * teams; }
};

int column_blocks(const Problem& problem) {
  return static_cast<int>((problem.q + 7) / 8);
}
int scalars_of_stage(DType type, int boxes) {
  return boxes * line_bytes / scalar_bytes(type);
}
int stage_bytes(const Problem& problem, const WideTiling& t) {
  return t.boxes * t.rows() * line_bytes +
         scalars_of_stage(problem.type, t.boxes) / 16 * column_blocks(problem) * block_bytes;
}
/// One more KiB, so that stages begin at whole ones.
int shared_bytes(const Problem& problem, const WideTiling& t) {
  return block_bytes + t.stages * stage_bytes(problem, t);
}

/// What a thread will need: sums, fragments, addresses.
int registers_needed(DType type, const WideTiling& t, int blocks_of_warp) {
  const int parts = parts_of(type), sums = 4 * t.tiles * blocks_of_warp * parts;
  if (t.split) return sums + (parts == 2 ? 124 : 114) + 28 * t.tiles;
  return 2 * sums + 78 + (parts == 2 ? 26 : 22) * t.tiles;
}

/// Cycles for all rows; constants fitted to the times of some tilings of 25 problems on an H100.
double cost_of(const Problem& problem, const WideTiling& t, int multiprocessors) {
  const int parts = parts_of(problem.type), rows = t.rows();
  const auto x_bytes = static_cast<double>(rows * problem.p * static_cast<index_t>(size_of(problem.type)));
  const auto y_bytes =
      static_cast<double>(rows * problem.q * static_cast<index_t>(size_of(result_type_of(problem.type))));
  const double k_blocks = std::ceil(static_cast<double>(problem.p * parts) / 16),
               blocks = column_blocks(problem);
  const double s_bytes = k_blocks * blocks * block_bytes;
  const double waves = std::ceil(std::ceil(static_cast<double>(problem.n) / rows) / multiprocessors);

  // Too little in flight leaves gaps.
  const double in_flight = (t.stages - 1) * t.boxes * rows * line_bytes;
  const double memory = (x_bytes + y_bytes) / 12.6 * std::max(1.0, 48 * 1024 / in_flight);
  const double cache = (x_bytes + s_bytes) / 24;
  const double shared = (x_bytes * (1 + t.column_warps) + s_bytes * (1 + t.teams)) / 100;
  // Instructions of the warps that share a scheduler; what every stage and every block of K costs beside
  // them.
  const double instruction = !t.split ? 64 : scalar_bytes(problem.type) == 2 ? 26 : 39;
  const int turns = (t.warps() + 3) / 4;
  const double tensor = t.tiles * k_blocks * blocks / t.column_warps * parts * instruction * turns;
  const double stages = k_blocks * 16 / scalars_of_stage(problem.type, t.boxes);
  const double arithmetic = 1.1 * tensor + 200 * stages + 100 * k_blocks;
  double sum = 0;
  for (const double part : {memory, cache, shared, arithmetic}) sum += std::pow(part, 4);
  return waves * std::pow(sum, 0.25);
}

std::vector<WideTiling> tilings(const Problem& problem, const DeviceInfo& device) {
  const int parts = parts_of(problem.type), blocks = column_blocks(problem);
  std::vector<WideTiling> all;
  for (const bool split : {false, true})
    for (const int tiles : {1, 2})
      for (const int teams : {1, 2, 4, 5, 6, 7, 8, 9, 10})
        for (const int column_warps : {1, 2, 4})
          for (const int boxes : {1, 2, 4}) {
            WideTiling t{split, tiles, teams, column_warps, boxes, 12, 0};
            if (t.warps() < 4 || t.warps() > 12 || t.rows() > box_lines || blocks % column_warps != 0)
              continue;
            if (split ? scalar_bytes(problem.type) == 8 : scalar_bytes(problem.type) == 2) continue;
            if (split && scalar_bytes(problem.type) == 4 && problem.q * parts <= 16) continue;
            if (registers_needed(problem.type, t, blocks / column_warps) > register_cap(t.warps())) continue;
            while (t.stages > 2 && shared_bytes(problem, t) > device.shared_bytes_per_block - 1024)
              --t.stages;
            if (shared_bytes(problem, t) > device.shared_bytes_per_block - 1024) continue;
            t.cost = cost_of(problem, t, device.multiprocessors);
            all.push_back(t);
          }
  std::stable_sort(all.begin(), all.end(),
                   [](const WideTiling& a, const WideTiling& b) { return a.cost < b.cost; });
  return all;
}

KernelPlan plan_of(const GpuProblem& problem, const DeviceInfo& device, const WideTiling& t) {
  const Problem& pr = problem.problem;
  const auto result = static_cast<index_t>(size_of(result_type_of(pr.type)));
  const bool vector_y =
      problem.out.layout == Layout::row_major && problem.out.alignment >= 16 && pr.q * result % 16 == 0;
  const index_t scalars = scalars_of_stage(pr.type, t.boxes),
                panels = ceil_div(pr.p * parts_of(pr.type), scalars);
  KernelPlan k;
  k.family = "tsmm_wide";
  k.defines = {define(pr.type),
               define("TS_CORE", t.split),
               define("TS_Q", pr.q),
               define("TS_NARROW_S", pr.operation == Operation::tsm2r),
               define("TS_ROWS", t.rows()),
               define("TS_TILES", t.tiles),
               define("TS_TEAMS", t.teams),
               define("TS_COLUMN_WARPS", t.column_warps),
               define("TS_BOXES", t.boxes),
               define("TS_STAGES", t.stages),
               define("TS_ACCUMULATE", pr.accumulate),
               define("TS_COLUMNS_Y", problem.out.layout == Layout::col_major),
               define("TS_VECTOR_Y", vector_y)};
  k.grid = grid_of(ceil_div(pr.n, t.rows()), device.multiprocessors);
  k.block = static_cast<unsigned>(32 * t.warps());
  k.shared_bytes = static_cast<std::size_t>(shared_bytes(pr, t));
  k.workspace_bytes = static_cast<std::size_t>(panels * scalars / 16 * column_blocks(pr) * block_bytes);
  k.budget.registers = register_cap(t.warps());
  k.budget.shared_bytes = 256;
  return k;
}

}  // namespace

index_t wide_widest(DType type) noexcept {
  return 128 / parts_of(type);
}

std::vector<Candidate> wide_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool tsm2r = pr.operation == Operation::tsm2r;
  if ((pr.operation != Operation::tsmm && !tsm2r) || device.capability() < 90) return {};
  if (pr.n < 1 || pr.n >= (index_t{1} << 31) || pr.q < 1 || pr.q > wide_widest(pr.type)) return {};
  // The copy engine wants lines a multiple of 16 bytes apart.
  const Form& x = problem.first;
  if (x.layout != Layout::row_major || x.alignment < 16 ||
      (x.contiguous && pr.p * static_cast<index_t>(size_of(pr.type)) % 16 != 0))
    return {};
  if (tsm2r) {
    // Rows are summed by one block alone, which starts at a column of its own.
    if (problem.determinism == Determinism::gpu_to_gpu) return {};
    if (pr.p < 1024 || pr.n < index_t{100} * device.multiprocessors) return {};
    // As measured on an H100: shorter rows are read as fast by the inner product, which starts faster.
    if (size_of(pr.type) < 8) return {};
  } else if (pr.p <= update_widest(pr.type, limits_of(device, Determinism::run_to_run))) {
    return {};
  }
  return candidates_of(tilings(pr, device), pr, device, device.shared_bytes_per_block,
                       [&](const WideTiling& t) { return plan_of(problem, device, t); });
}

WideShape wide_shape(const GpuProblem& problem, const KernelPlan& plan) {
  const Problem& pr = problem.problem;
  WideShape shape;
  const int scalars = scalars_of_stage(pr.type, constant_of(plan, "TS_BOXES"));
  shape.rows = constant_of(plan, "TS_ROWS");
  shape.panels = ceil_div(pr.p * parts_of(pr.type), scalars);
  shape.k_blocks = shape.panels * scalars / 16;
  shape.factor.family = "wide_factor";
  for (const char* name : {"TS_TYPE", "TS_CORE", "TS_Q", "TS_NARROW_S", "TS_COLUMN_WARPS", "TS_COLUMNS_Y"})
    shape.factor.defines.push_back(define(name, constant_of(plan, name)));
  shape.factor.block = 256;
  shape.factor.grid = static_cast<unsigned>(ceil_div(shape.k_blocks * column_blocks(pr) * 32, 256));
  shape.factor.budget.registers = 64;
  return shape;
}

}  // namespace ts::cuda
