#include "tallskinny/gemm/tsmttsm/plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/plan_constant.hpp"
#include "tallskinny/gemm/tsmttsm/inner_half.hpp"

namespace ts::cuda {
namespace {

/// What has as many columns as C has rows. TSM2R: op(D)'s transpose is tall, or at least narrow in panels.
index_t columns_of_a(const Problem& pr) { return pr.operation == Operation::tsm2r ? pr.n : pr.p; }

/// How wide the panels of A may be: for a tall row-major A of more columns than one launch takes, every cut
/// in panels that a kernel may take at once; else the one that the shape asks for.
std::vector<index_t> panel_widths(const GpuProblem& problem, const BlockLimits& limits) {
  const Problem& pr = problem.problem;
  const index_t columns = columns_of_a(pr), parts = parts_of(pr.type);
  if (pr.operation == Operation::gram) return {columns};
  Layout layout = problem.first.layout;
  if (pr.operation == Operation::tsm2r) layout = layout == Layout::row_major ? Layout::col_major : Layout::row_major;
  const index_t usual = inner_panel_width(pr.type, layout, columns, pr.q, limits);
  if (problem.parts > 0 || usual == columns || pr.operation == Operation::tsm2r || layout != Layout::row_major ||
      problem.second.layout != Layout::row_major)
    return {usual};
  std::vector<index_t> widths;
  const index_t unit = 16 / parts;  // panels begin where whole units can be copied
  for (index_t panels = 1; panels <= ceil_div(columns * parts, 64); ++panels) {
    const index_t width = round_up(static_cast<int>(ceil_div(columns, panels)), static_cast<int>(unit));
    if (width * parts <= 2 * inner_scalars_max && ceil_div(columns, width) == panels) widths.push_back(width);
  }
  return widths;
}

struct PanelTiling {
  InnerProblem problem;
  BlockLimits limits;
  InnerTiling tiling;
  double cost = 0;
};

/// Cycles of a scheduler for 16 rows of all of A, the whole device at work. Panels of the same rows read B
/// from the L2 cache, which gives each multiprocessor 24 bytes a cycle; memory gives 14.
double cost_of(const InnerProblem& problem, const InnerTiling& tiling, const GpuProblem& of,
               const BlockLimits& limits) {
  const auto bytes_of = [&](index_t columns) {
    return static_cast<double>(columns * static_cast<index_t>(size_of(problem.type)));
  };
  const double panels = static_cast<double>(problem.panels);
  const double busy = panels * std::max(1.0, std::floor(limits.multiprocessors / panels)) / limits.multiprocessors;
  // As measured on an H100 (and for GPUs like it alone) with 512 columns: splitting takes longer than its
  // instructions are counted, and each slice of warpgroups splits B for itself.
  const double slower = tiling.warpgroups ? 0.9 + 0.3 * tiling.slices
                        : tiling.split && limits.warpgroups && problem.q * parts_of(problem.type) > 16 ? 1.5
                                                                                                       : 1;
  const double arithmetic = slower * tiling.cost * panels / busy;
  const double memory = 4 * 16 * (bytes_of(columns_of_a(of.problem)) + bytes_of(problem.q)) / 14;
  const double cache = 4 * 16 * panels * (bytes_of(problem.p) + bytes_of(problem.q)) / 24 / busy;
  double sum = 0;
  for (const double part : {arithmetic, memory, cache}) sum += std::pow(part, 4);
  return std::pow(sum, 0.25);
}

}  // namespace

index_t inner_panels(const GpuProblem& problem, const KernelPlan& plan) {
  return ceil_div(columns_of_a(problem.problem), constant_of(plan, "TS_P"));
}

InnerProblem inner_problem_of(const GpuProblem& problem, index_t panel) {
  const Problem& pr = problem.problem;
  const bool tsm2r = pr.operation == Operation::tsm2r;
  InnerProblem inner;
  inner.parts = problem.parts;
  inner.type = pr.type, inner.q = pr.q;
  inner.rows = tsm2r ? pr.p : pr.n;
  inner.gram = pr.operation == Operation::gram;
  const index_t columns = columns_of_a(pr);
  Form a = problem.first;
  if (tsm2r) a.layout = a.layout == Layout::row_major ? Layout::col_major : Layout::row_major;
  inner.p = panel;
  inner.panels = ceil_div(columns, panel);
  if (inner.panels > 1 && a.layout == Layout::row_major) {
    const auto starts = static_cast<std::uint64_t>((inner.p | columns) * static_cast<index_t>(size_of(pr.type)));
    a.alignment = std::min(a.alignment, 1 << std::countr_zero(starts | 256));
    a.contiguous = false, a.gap = 0;
  }
  inner.a = tall_operand_of(a, pr.type, inner.rows, inner.p);
  inner.b = inner.gram ? inner.a : tall_operand_of(problem.second, pr.type, inner.rows, pr.q);
  return inner;
}

std::vector<Candidate> inner_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::tsmttsm && pr.operation != Operation::gram && pr.operation != Operation::tsm2r)
    return {};
  const index_t most = inner_scalars_max / parts_of(pr.type);
  if (pr.n < 1 || pr.p < 1 || pr.q < 1 || pr.q > most || (pr.operation == Operation::gram && pr.p > most)) return {};
  const BlockLimits device_limits = limits_of(device, problem.determinism);
  std::vector<PanelTiling> all;
  const std::vector<index_t> widths = panel_widths(problem, device_limits);
  for (const index_t width : widths) {
    InnerProblem inner = inner_problem_of(problem, width);
    inner.every_core = widths.size() > 1;
    const BlockLimits limits = part_limits_of(device, problem, inner.panels);
    for (const InnerTiling& tiling : inner_tilings(inner, limits))
      all.push_back(
          {inner, limits, tiling, widths.size() == 1 ? tiling.cost : cost_of(inner, tiling, problem, limits)});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.cost < y.cost; });
  std::vector<Candidate> candidates =
      candidates_of(all, pr, device, device_limits.shared_bytes,
                    [&](const PanelTiling& one) { return plan_inner(one.problem, one.limits, one.tiling).kernel; });
  if (auto half = plan_half(problem, device); half && !candidates.empty())
    candidates.insert(candidates.begin(), {std::move(*half), candidates.front().seconds});
  return candidates;
}

}  // namespace ts::cuda
