#include "tallskinny/gemm/tsmttsm/inner_half.hpp"

#include <algorithm>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/tsmttsm/inner_plan.hpp"

namespace ts::cuda {
namespace {

/// Whether the copy engine can be told of an operand of so many columns: lines a multiple of 16 bytes apart.
bool in_boxes(const Form& form, DType type, index_t columns) {
  return form.layout == Layout::row_major && form.alignment >= 16 &&
         (!form.contiguous || columns * static_cast<index_t>(size_of(type)) % 16 == 0);
}

/// Columns of A that a block has at most: two warpgroups leave a thread the registers for 32 sums in float64.
constexpr index_t widest_panel = 128;
/// As measured on an H100: what has fewer columns, or rows, the other kernels read as fast.
constexpr index_t least_columns = 256, most_otherwise = 32, least_rows = 1 << 16;

}  // namespace

std::optional<KernelPlan> plan_half(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const BlockLimits limits = limits_of(device, problem.determinism);
  if (pr.operation != Operation::tsmttsm || scalar_bytes(pr.type) != 2 || !limits.warpgroups || problem.parts > 0)
    return {};
  if (pr.p < least_columns || pr.q <= most_otherwise || pr.q > inner_scalars_any) return {};
  if (pr.n < least_rows || pr.n >= (index_t{1} << 31)) return {};
  if (!in_boxes(problem.first, pr.type, pr.p) || !in_boxes(problem.second, pr.type, pr.q)) return {};

  const index_t panels = ceil_div(pr.p, widest_panel), panel = round_up(static_cast<int>(ceil_div(pr.p, panels)), 8),
                groups = ceil_div(panel, 64);
  const index_t blocks =
      std::clamp<index_t>(ceil_div(pr.n, half_chunk_rows), 1, std::max<index_t>(1, limits.multiprocessors / panels));
  const index_t sums = panel * pr.q, block_groups = ceil_div(blocks, group_size_of(static_cast<int>(blocks)));
  const index_t stage_bytes = (groups + 1) * half_chunk_rows * 128;
  const index_t kept_bytes = ceil_div(pr.q, 8) * 4 * (128 * groups + 4) * 8;
  const index_t stages = std::min<index_t>(8, (limits.shared_bytes - 2048) / stage_bytes);
  KernelPlan k;
  k.family = "tsmttsm_half";
  k.defines = {define(pr.type),
               define("TS_CORE", 2),
               define("TS_P", panel),
               define("TS_Q", pr.q),
               define("TS_GRAM", 0),
               define("TS_SWAP", 0),
               define("TS_FOLD", 1),
               define("TS_SUBS", 4),
               define("TS_SUB_ROWS", half_chunk_rows / 4),
               define("TS_MODE_A", 1),
               define("TS_PITCH_A", panel),
               define("TS_VECTOR_A", 1),
               define("TS_UNIT_A", 16),
               define("TS_SHIFT_A", 0),
               define("TS_MODE_B", 1),
               define("TS_PITCH_B", pr.q),
               define("TS_VECTOR_B", 1),
               define("TS_UNIT_B", 16),
               define("TS_SHIFT_B", 0),
               define("TS_STAGES", stages),
               define("TS_PANELS", panels > 1 ? 2 : 1),
               define("TS_CLUSTER", 1)};
  k.grid = static_cast<unsigned>(panels * blocks), k.block = static_cast<unsigned>(128 * groups);
  k.shared_bytes = static_cast<std::size_t>(1024 + std::max(stages * stage_bytes, kept_bytes));
  k.workspace_bytes = static_cast<std::size_t>(panels * (blocks + block_groups) * sums) * sizeof(double);
  k.budget.registers = register_cap(static_cast<int>(4 * groups));
  k.budget.shared_bytes = 256;
  return k;
}

}  // namespace ts::cuda
