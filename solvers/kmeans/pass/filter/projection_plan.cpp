#include "tallskinny/solvers/kmeans/pass/filter/projection_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Steps of tensor instructions for a row: one for each 32 bytes, and one of limits.
int projection_steps(const ProjectionForm& projections) {
  return static_cast<int>(projections.bytes() / ProjectionTilesPolicy::step_bytes) + 1;
}

/// Elements of a load of a row's, and what it is aligned to.
std::pair<int, int> loads_of(const RowsForm& rows) {
  const auto size = static_cast<int>(size_of(rows.type));
  const Piece piece = widest_piece(at(size), {Layout::row_major, false, rows.alignment}, rows.d);
  const int vector = std::min(piece.count, 16 / size);
  return {vector, std::min(piece.alignment, vector * size)};
}

constexpr double per_product = 2 / 655e9;       // milliseconds of a product of float16 in whole passes
constexpr double without = 1.16 * per_product;  // of one in a pass over all centroids, measured

/// Milliseconds of projections (H100), as far as these decide. How much they leave falls with what they leave of rows,
/// here of embeddings, whose variances fall like 1 / j, and integers round away 1.5 % of it. The second pass of a run,
/// the first whose rows have labels, leaves about ten times as much.
struct ProjectionCost {
  double pairs, d, making, of_limits, of_projections, left;

  ProjectionCost(const AssignProblem& p, const ProjectionForm& projections)
      : pairs(static_cast<double>(p.rows.n) * static_cast<double>(p.k)), d(static_cast<double>(p.rows.d)) {
    const bool int8 = projections.numbers == ProjectionNumbers::int8;
    const auto k = static_cast<double>(p.k), m = static_cast<double>(projections.columns);
    // Axes take the host a while, and rows are turned into them.
    making = m * d * (2e-5 + 2.6e-11 * static_cast<double>(p.rows.n));
    of_limits = static_cast<double>(p.rows.n) * d * static_cast<double>(size_of(p.rows.type)) / 2.5e9;
    // For each pair, products of projections take one tensor instruction a step, and integers a conversion.
    const double steps = projection_steps(projections);
    of_projections = 0x1p-32 * (int8 ? 0.63 + 0.12 * steps : 0.06 + 0.178 * steps);
    const double lost = std::log(d / m) / std::log(d) + (int8 ? 0.015 : 0.0);
    left = (32 * std::exp(9.5 * lost) + 64) / k;
  }
  /// Time of a pass. Scores in lists take twice the time of scores of whole chunks.
  [[nodiscard]] double pass(double share) const {
    return of_limits + pairs * (of_projections + 2 * std::min(1.0, share) * d * per_product);
  }
  [[nodiscard]] double mean(index_t passes) const {
    constexpr double most_passes = 20;  // a run may end before
    return pass(left) + making / std::min(static_cast<double>(passes), most_passes);
  }
  [[nodiscard]] bool serves_second_pass() const { return pass(10 * left) < without * pairs * d; }
};

/// True if the kernels of projections or bounds can take the rows, and there are enough products to leave out.
bool may_filter(const AssignProblem& p, const DeviceInfo& device, bool wanted) {
  // Products of a pass below which choosing is not worth its kernels.
  constexpr double least_products = 0x1p38;
  constexpr index_t least_columns = 96, most_rows = index_t{1} << 27;
  const double products = static_cast<double>(p.rows.n) * static_cast<double>(p.k * p.rows.d);
  const bool halves = p.rows.type == DType::float16 || p.rows.type == DType::float32;
  return device.features().warpgroups && p.rows.plain && halves && !p.wide && !p.fast && p.rows.d >= least_columns &&
         p.rows.n <= most_rows && (wanted || products >= least_products);
}

}  // namespace

ProjectionForm projection_form(const AssignProblem& p, index_t passes, const DeviceInfo& device, bool wanted) {
  constexpr index_t least_of_row = index_t{1} << 20;
  if (!may_filter(p, device, wanted) || (!wanted && p.k * p.rows.d < least_of_row)) return {};
  if (!assign_listed_plan(p, assign_plans(p, device), device)) return {};
  const double products = static_cast<double>(p.rows.n) * static_cast<double>(p.k * p.rows.d);
  ProjectionForm best;
  double least = wanted ? std::numeric_limits<double>::infinity() : without * products;
  for (ProjectionForm form :
       {ProjectionForm{48}, {112}, {160, ProjectionNumbers::int8}, {224, ProjectionNumbers::int8}}) {
    const ProjectionCost cost(p, form);
    if (3 * form.columns > 2 * p.rows.d || cost.mean(passes) >= least) continue;
    form.from = cost.serves_second_pass() ? 1 : 2;
    best = form, least = cost.mean(passes);
  }
  return best;
}

index_t tile_rows(const ScorePlan& listed) { return group_rows * policy_of<GroupsPolicy>(listed.kernel).groups; }

std::optional<KernelPlan> axes_factor_plan(index_t m, const DeviceInfo& device) {
  constexpr index_t widest = 256;
  if (m > widest) return std::nullopt;
  const AxesFactorPolicy policy{static_cast<int>(ceil_div(m, 16) * 16)};
  if (policy.shared_bytes() > device.shared_bytes_per_block) return std::nullopt;
  KernelPlan plan = kmeans_plan_of("axes_factor", policy);
  plan.block = policy.threads;
  plan.shared_bytes = at(policy.shared_bytes());
  plan.budget = {64, 0};
  return plan;
}

KernelPlan projection_axes_plan(const ProjectionForm& projections, index_t d) {
  const ProjectionAxesPolicy policy{ProjectionRowsShape::of(projections.columns).columns};
  return threads_plan("projection_axes", policy,
                      ceil_div(d, policy.stage_columns) * policy.stage_columns * policy.columns);
}

KernelPlan projection_rows_plan(const RowsForm& rows, const ProjectionForm& projections) {
  ProjectionRowsPolicy policy{rows.type, projections.numbers, ProjectionRowsShape::of(projections.columns).columns};
  std::tie(policy.vector, policy.alignment) = loads_of(rows);
  KernelPlan plan = kmeans_plan_of("projection_rows", policy);
  plan.grid = grid_of(ceil_div(rows.n, policy.rows()), INT32_MAX);
  plan.block = policy.threads;
  plan.shared_bytes = at(policy.shared_bytes(static_cast<int>(rows.d)));
  plan.budget = {policy.blocks_at_once() == 2 ? 128 : 255, 0};
  return plan;
}

KernelPlan projection_centroids_plan(ProjectionNumbers numbers, index_t k) {
  const index_t padded = ceil_div(k, projection_chunk) * projection_chunk;
  return threads_plan("projection_centroids", ProjectionCentroidsPolicy{numbers}, 32 * std::max(padded, k + 1));
}

KernelPlan projection_limits_plan(const RowsForm& rows, const ProjectionForm& projections, index_t steps,
                                  const DeviceInfo& device) {
  ProjectionLimitsPolicy policy{rows.type, static_cast<int>(rows.d), static_cast<int>(steps),
                                projections.numbers == ProjectionNumbers::int8 ? 1 : projection_steps(projections)};
  std::tie(policy.vector, policy.alignment) = loads_of(rows);
  KernelPlan plan = warps_plan("projection_limits", policy, ceil_div(rows.n, 32), device);
  plan.budget = {64, static_cast<int>(ceil_div(rows.d, 16) * 64)};
  return plan;
}

KernelPlan projection_tiles_plan(index_t rows, const ProjectionForm& projections, bool each_row,
                                 const DeviceInfo& device) {
  constexpr int least_stages = 3, most_groups = 3;
  ProjectionTilesPolicy policy;
  policy.each_row = each_row, policy.numbers = projections.numbers;
  policy.steps = projection_steps(projections);
  policy.stage_steps = policy.steps % 4 == 0 ? 4 : 3;
  for (policy.groups = most_groups; policy.groups > 0; --policy.groups) {
    policy.stages = 0;
    const int left = device.shared_bytes_per_block - policy.shared_bytes();
    policy.stages = std::clamp(left / policy.stage_bytes(), least_stages, policy.most_stages);
    if (left >= least_stages * policy.stage_bytes()) break;
  }
  KernelPlan plan = kmeans_plan_of("projection_tiles", policy);
  plan.grid = grid_of(ceil_div(rows, std::max(policy.groups, 1) * policy.group_rows), device.multiprocessors);
  plan.block = static_cast<unsigned>(policy.threads());
  plan.shared_bytes = at(policy.shared_bytes());
  plan.budget = {policy.registers(), 0};
  return plan;
}

bool tile_bounds_may_pay(const AssignProblem& p, const DeviceInfo& device, bool wanted) {
  constexpr index_t least_centroids = 512;  // four chunks
  if (!may_filter(p, device, wanted) || (!wanted && p.k < least_centroids)) return false;
  // Longer lists than those of projections would take long where undecided rows are not scored again, but decided among
  // theirs.
  const AssignPlans plans = assign_plans(p, device);
  return (wanted || plans.again) && assign_listed_plan(p, plans, device, true);
}

FilterCosts filter_costs(const AssignProblem& p, const ProjectionForm& projections, bool bounds) {
  constexpr double per_gap = 0.35e-9;            // of each pair that is scored, for bounds
  constexpr double bound_bytes = 3 * 4.0 / 128;  // of each pair: a bound is read and written, and a number
  constexpr double bandwidth = 2e9;              // bytes in a millisecond
  const auto pairs = static_cast<double>(p.rows.n) * static_cast<double>(p.k), d = static_cast<double>(p.rows.d);
  const double rows = static_cast<double>(p.rows.n) * d * static_cast<double>(size_of(p.rows.type)) / bandwidth;
  FilterCosts costs{.all = without * pairs * d};
  if (bounds)
    costs.bounds = rows + pairs * bound_bytes / bandwidth, costs.by_bounds = pairs * (2 * d * per_product + per_gap);
  if (projections.columns == 0) return costs;
  const ProjectionCost by_projections(p, projections);
  costs.projections = rows + by_projections.pass(0), costs.by_projections = pairs * 2 * d * per_product;
  return costs;
}

KernelPlan bounds_schedule_plan() {
  KernelPlan plan = threads_plan("bounds_schedule", BoundsSchedulePolicy{}, BoundsSchedulePolicy::threads);
  plan.budget.shared_bytes = 4 * BoundsSchedulePolicy::threads;
  return plan;
}

}  // namespace ts::inline v0::cuda
