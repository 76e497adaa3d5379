#include "tallskinny/gemm/tsmttsm/plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {
namespace {

/// What has as many columns as C has rows. TSM2R: op(D)'s transpose is tall, or at least narrow in panels.
index_t columns_of_a(const Problem& pr) { return pr.operation == Operation::tsm2r ? pr.n : pr.p; }

/// The columns of a panel of A: as many as a kernel can take, or fewer, so that the panels keep the whole
/// device busy. Those of a row-major A begin where whole units can be copied.
index_t inner_panel_width(DType type, Layout layout, index_t columns_of_a, index_t columns_of_b,
                          const BlockLimits& limits) noexcept {
  constexpr const InnerPanels& m = inner_panels_of_a;
  const index_t parts = parts_of(type), unit = m.unit / parts;
  const index_t area = inner_scalars_max * inner_scalars_max / 2 / parts;
  const index_t right = (columns_of_b * parts + 7) / 8 * 8;
  const index_t most = std::min<index_t>(m.widest / parts, area / right / unit * unit);
  if (columns_of_a <= std::max(most, inner_scalars_max / parts)) return columns_of_a;
  index_t panels = (columns_of_a + most - 1) / most;
  if (panels > limits.multiprocessors / 2)  // whole waves
    panels = (panels + limits.multiprocessors - 1) / limits.multiprocessors * limits.multiprocessors;
  const index_t width = (columns_of_a + panels - 1) / panels;
  if (layout == Layout::col_major) return width;
  return std::min((width + unit - 1) / unit * unit, columns_of_a);
}

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
  const index_t unit = inner_panels_of_a.unit / parts;
  for (index_t panels = 1; panels <= ceil_div(columns * parts, inner_panels_of_a.narrowest); ++panels) {
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
  std::size_t turn = 0;  ///< place in the search space: of equal costs the first counts as the lower one
};

/// Cycles of a scheduler for 16 rows of all of A, the whole device at work. Panels of the same rows read B from the L2
/// cache.
double cost_of(const InnerProblem& problem, const InnerTiling& tiling, const GpuProblem& of,
               const BlockLimits& limits) {
  const auto bytes_of = [&](index_t columns) {
    return static_cast<double>(columns * static_cast<index_t>(size_of(problem.type)));
  };
  const double panels = static_cast<double>(problem.panels);
  const double busy = panels * std::max(1.0, std::floor(limits.multiprocessors / panels)) / limits.multiprocessors;
  // As measured with 512 columns, and for GPUs that have warpgroups alone.
  const InnerCostModel& m = inner_cost_model(limits);
  const bool splits_much = tiling.split && limits.warpgroups && problem.q * parts_of(problem.type) > m.widest_unsplit;
  const double slower = tiling.warpgroups ? m.panels_of_warpgroups + m.panels_of_slice * tiling.slices
                        : splits_much     ? m.panels_of_split
                                          : 1;
  const double arithmetic = slower * tiling.cost * panels / busy;
  const double memory = 4 * 16 * (bytes_of(columns_of_a(of.problem)) + bytes_of(problem.q)) / m.bytes_per_cycle;
  const double cache = 4 * 16 * panels * (bytes_of(problem.p) + bytes_of(problem.q)) / m.cache_bytes_per_cycle / busy;
  double sum = 0;
  for (const double part : {arithmetic, memory, cache}) sum += std::pow(part, 4);
  return std::pow(sum, 0.25);
}

/// Whether the copy engine can be told of an operand of so many columns: lines a multiple of 16 bytes apart.
bool in_boxes(const Form& form, DType type, index_t columns) {
  return form.layout == Layout::row_major && form.alignment >= 16 &&
         (!form.contiguous || columns * static_cast<index_t>(size_of(type)) % 16 == 0);
}

std::optional<KernelPlan> plan_half(const GpuProblem& problem, const DeviceInfo& device) {
  constexpr const InnerHalfLimits& m = inner_half_limits;
  const Problem& pr = problem.problem;
  const BlockLimits limits = limits_of(device, problem.determinism);
  if (pr.operation != Operation::tsmttsm || scalar_bytes(pr.type) != 2 || !limits.warpgroups || problem.parts > 0)
    return {};
  if (pr.p < m.least_columns || pr.q <= m.most_otherwise || pr.q > inner_scalars_any) return {};
  if (pr.n < m.least_rows || pr.n > m.most_rows) return {};
  if (!in_boxes(problem.first, pr.type, pr.p) || !in_boxes(problem.second, pr.type, pr.q)) return {};

  const index_t panels = ceil_div(pr.p, m.widest_panel);
  InnerHalfPolicy policy{pr.type, round_up(static_cast<int>(ceil_div(pr.p, panels)), 8), static_cast<int>(pr.q)};
  policy.panels = panels > 1;
  policy.stages = std::min(m.stages, (limits.shared_bytes - m.keeps_free) / policy.stage_bytes());
  const index_t blocks = std::clamp<index_t>(ceil_div(pr.n, policy.chunk_rows()), 1,
                                             std::max<index_t>(1, limits.multiprocessors / panels));
  const index_t groups = ceil_div(blocks, group_size_of(static_cast<int>(blocks)));
  KernelPlan k = plan_of("tsmttsm_half", policy);
  k.grid = static_cast<unsigned>(panels * blocks), k.block = static_cast<unsigned>(policy.threads());
  k.shared_bytes = static_cast<std::size_t>(policy.shared_bytes());
  k.workspace_bytes = static_cast<std::size_t>(panels * (blocks + groups) * policy.p * policy.q) * sizeof(double);
  k.budget = {register_cap(policy.threads() / 32), 256};
  return k;
}

}  // namespace

int inner_panel_of(const KernelPlan& plan) {
  return plan.policy == policy_type<InnerHalfPolicy> ? policy_of<InnerHalfPolicy>(plan).p
                                                     : policy_of<InnerPolicy>(plan).p;
}

index_t inner_panels(const GpuProblem& problem, const KernelPlan& plan) {
  return ceil_div(columns_of_a(problem.problem), inner_panel_of(plan));
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
      all.push_back({inner, limits, tiling, widths.size() == 1 ? tiling.cost : cost_of(inner, tiling, problem, limits),
                     all.size()});
  }
  std::sort(all.begin(), all.end(),
            [](const auto& x, const auto& y) { return std::tie(x.cost, x.turn) < std::tie(y.cost, y.turn); });
  std::vector<Candidate> candidates =
      candidates_of(all, pr, device, device_limits.shared_bytes,
                    [&](const PanelTiling& one) { return plan_inner(one.problem, one.limits, one.tiling); });
  if (auto half = plan_half(problem, device); half && !candidates.empty())
    candidates.insert(candidates.begin(), {std::move(*half), candidates.front().seconds});
  return candidates;
}

}  // namespace ts::inline v0::cuda
