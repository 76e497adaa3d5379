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

Layout other(Layout layout) { return layout == Layout::row_major ? Layout::col_major : Layout::row_major; }
Layout layout_of_a(const GpuProblem& problem) {
  return problem.problem.operation == Operation::tsm2r ? other(problem.first.layout) : problem.first.layout;
}

/// Columns of panels that are as equal as can be, none with more scalars.
index_t panel_width(DType type, index_t columns, index_t scalars) noexcept {
  return ceil_div(columns, ceil_div(columns, scalars / parts_of(type)));
}

/// The columns of a panel of A: as many as a kernel can take, or fewer, so that the panels keep the whole
/// device busy. Those of a row-major A begin where whole units can be copied.
index_t inner_panel_width(DType type, Layout layout, index_t columns_of_a, index_t columns_of_b,
                          const BlockLimits& limits) noexcept {
  constexpr const InnerPanels& m = inner_panels_of_a;
  const index_t parts = parts_of(type), unit = m.unit / parts;
  const index_t square = inner_scalars_max * inner_scalars_max;
  const index_t area = (limits.shared_bytes < 8 * square && scalar_bytes(type) == 2 ? square / 5 : square / 2) / parts;
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
  const Layout layout = layout_of_a(problem);
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
  double cost = 0, cycles = 0;
  bool reads = false;    ///< the cost counts memory, too
  std::size_t turn = 0;  ///< place in the search space: of equal costs the first counts as the lower one
};

/// Cycles of a scheduler for 16 rows of all of A, the whole device at work. Panels of the same rows read B from the L2
/// cache.
double cost_of(const InnerProblem& problem, const InnerTiling& tiling, const GpuProblem& of, const BlockLimits& limits,
               double power) {
  const auto bytes_of = [&](index_t columns) {
    return static_cast<double>(columns * static_cast<index_t>(size_of(problem.type)));
  };
  const double panels = static_cast<double>(problem.panels);
  const double busy = panels * std::max(1.0, std::floor(limits.multiprocessors / panels)) / limits.multiprocessors;
  // As measured with 512 columns, and for GPUs that have warpgroups alone.
  const InnerCostModel m = inner_cost_model(limits);
  const bool splits_much = tiling.split && limits.warpgroups && problem.q * parts_of(problem.type) > m.widest_unsplit;
  const double slower = tiling.warpgroups ? m.panels_of_warpgroups + m.panels_of_slice * tiling.slices
                        : splits_much     ? m.panels_of_split
                                          : 1;
  const double arithmetic = slower * tiling.cost * panels / busy;
  const double memory = 4 * 16 * (bytes_of(columns_of_a(of.problem)) + bytes_of(problem.q)) / m.bytes_per_cycle;
  const double cache = 4 * 16 * panels * (bytes_of(problem.p) + bytes_of(problem.q)) / m.cache_bytes_per_cycle / busy;
  double sum = 0;
  for (const double part : {arithmetic, memory, cache}) sum += std::pow(part, power);
  return std::pow(sum, 1 / power);
}

/// A piece of a problem that is cut: columns of A and of B, which lie among others.
GpuProblem piece_of(const GpuProblem& problem, Operation operation, index_t p, index_t q) {
  const Problem& pr = problem.problem;
  GpuProblem piece = problem;
  piece.problem.operation = operation, piece.problem.p = p, piece.problem.q = q;
  piece.first = form_among(problem.first, p, pr.p, pr.type);
  piece.second = pr.operation == Operation::gram ? piece.first : form_among(problem.second, q, pr.q, pr.type);
  return piece;
}

/// The time of the products that a problem is cut into; nothing where one kernel takes it all.
std::optional<Candidate> pieces_of(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation == Operation::tsm2r || problem.parts > 0) return {};
  const bool gram = pr.operation == Operation::gram;
  const index_t width = gram ? gram_width(problem, device, false) : inner_width(problem, device);
  const auto pieces = static_cast<double>(ceil_div(pr.q, width));
  if (pieces == 1) return {};
  double seconds = 0;
  const auto add = [&](double count, Operation operation, index_t p) {
    const GpuProblem piece = piece_of(problem, operation, p, width);
    const int alignment = std::min(piece.first.alignment, piece.second.alignment);
    const double slower = alignment >= (scalar_bytes(pr.type) == 8 ? 16 : 128) ? 1.15 : alignment >= 8 ? 1.5 : 2.5;
    const auto some = inner_candidates(piece, device);
    if (!some.empty())
      seconds += count * (piece.first.contiguous && piece.second.contiguous ? 1 : slower) * some.front().seconds;
  };
  if (gram) add(pieces, Operation::gram, width);
  add(gram ? pieces * (pieces - 1) / 2 : pieces, Operation::tsmttsm, gram ? width : pr.p);
  return in_pieces("tsmttsm", seconds);
}

/// True where a block's shared memory holds the sums of the widest product.
bool holds_widest_sums(const GpuProblem& problem, const DeviceInfo& device) noexcept {
  return limits_of(device, problem.determinism).shared_bytes > 8 * inner_scalars_max * inner_scalars_max;
}

}  // namespace

index_t inner_width(const GpuProblem& problem, const DeviceInfo& device) noexcept {
  // The sums of 16-bit products are kept twice, which leaves less memory for rows; two layouts at once take registers
  // for addresses, and so do both parts of columns.
  const DType type = problem.problem.type;
  const Layout of_a = layout_of_a(problem);
  const bool half = size_of(type) == 2, few = half || of_a != problem.second.layout;
  const bool columns = parts_of(type) == 2 && of_a == Layout::col_major;
  if (!holds_widest_sums(problem, device))
    return panel_width(type, problem.problem.q, half ? inner_scalars_any / 2 : inner_scalars_any);
  return panel_width(type, problem.problem.q, few ? inner_scalars_any : columns ? 96 : inner_scalars_max);
}

index_t gram_width(const GpuProblem& problem, const DeviceInfo& device, bool distributed) noexcept {
  const Problem& pr = problem.problem;
  const bool run = problem.first.layout == Layout::row_major && (problem.first.contiguous || problem.first.gap > 0);
  const bool alone = !distributed && problem.determinism == Determinism::run_to_run;
  const bool widest = alone && run && device.features().bulk_copies && holds_widest_sums(problem, device);
  const index_t most = widest ? inner_scalars_max : 96;
  return pr.p * parts_of(pr.type) <= most ? pr.p : panel_width(pr.type, pr.p, inner_scalars_any);
}

int inner_panel_of(const KernelPlan& plan) { return policy_of<InnerPolicy>(plan).p; }

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
  a.layout = layout_of_a(problem);
  inner.p = panel;
  inner.panels = ceil_div(columns, panel);
  if (inner.panels > 1) a = form_among(a, inner.p, columns, pr.type);
  inner.a = tall_operand_of(a, pr.type, inner.rows, inner.p);
  inner.b = inner.gram ? inner.a : tall_operand_of(problem.second, pr.type, inner.rows, pr.q);
  return inner;
}

std::vector<Candidate> inner_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::tsmttsm && pr.operation != Operation::gram && pr.operation != Operation::tsm2r)
    return {};
  if (pr.n < 1 || pr.p < 1 || pr.q < 1) return {};
  if (auto pieces = pieces_of(problem, device)) return {std::move(*pieces)};
  const index_t most = inner_scalars_max / parts_of(pr.type);
  if (pr.q > most || (pr.operation == Operation::gram && pr.p > most)) return {};
  const BlockLimits device_limits = limits_of(device, problem.determinism);
  std::vector<PanelTiling> all;
  const std::vector<index_t> widths = panel_widths(problem, device_limits);
  for (const index_t width : widths) {
    InnerProblem inner = inner_problem_of(problem, width);
    inner.every_core = widths.size() > 1;
    const BlockLimits limits = part_limits_of(device, problem, inner.panels);
    for (const InnerTiling& tiling : inner_tilings(inner, limits)) {
      PanelTiling one{inner, limits, tiling, tiling.cost, tiling.cost * static_cast<double>(inner.panels)};
      one.cycles /= inner_shape_of(inner).fold;
      if (widths.size() > 1) {
        const double power = inner_cost_model(limits).power;
        one.cost = cost_of(inner, tiling, problem, limits, 4),
        one.cycles = cost_of(inner, tiling, problem, limits, power);
        one.reads = true;
      }
      one.cycles *= static_cast<double>(inner.rows) / (16 * 4 * device.multiprocessors);
      one.turn = all.size();
      all.push_back(one);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const auto& x, const auto& y) { return std::tie(x.cost, x.turn) < std::tie(y.cost, y.turn); });
  return candidates_of(
      all, pr, device, device_limits.shared_bytes,
      [&](const PanelTiling& one) {
        const InnerCostModel m = inner_cost_model(device_limits);
        if (one.reads) return one.cycles / device.clock * (scalar_bytes(pr.type) == 2 ? m.panels_of_half : 1);
        const index_t scalars = (pr.p + (pr.operation == Operation::gram ? 0 : pr.q)) * parts_of(pr.type);
        const bool is_long = scalars >= m.long_row_scalars || scalars * scalar_bytes(pr.type) >= m.long_row_bytes;
        const double reading =
            least_times(pr, device).memory_seconds / (is_long ? m.read_share_of_long_rows : m.read_share);
        return std::pow(std::pow(reading, m.power) + std::pow(one.cycles / device.clock, m.power), 1 / m.power);
      },
      [&](const PanelTiling& one) { return plan_inner(one.problem, one.limits, one.tiling); });
}

}  // namespace ts::inline v0::cuda
