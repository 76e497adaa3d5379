#include "tallskinny/solvers/kmeans/pass/filter/heads_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/heads_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Steps of tensor instructions for a row: one for each 32 bytes, and one of limits.
int head_steps(const HeadsForm& heads) { return static_cast<int>(heads.bytes() / HeadsTilesPolicy::step_bytes) + 1; }

/// Elements of a load of a row's, and what it is aligned to.
std::pair<int, int> loads_of(const RowsForm& rows) {
  const auto size = static_cast<int>(size_of(rows.type));
  const Piece piece = widest_piece(at(size), {Layout::row_major, false, rows.alignment}, rows.d);
  const int vector = std::min(piece.count, 16 / size);
  return {vector, std::min(piece.alignment, vector * size)};
}

constexpr double per_product = 2 / 655e9;       // milliseconds of a product of float16 in whole passes
constexpr double without = 1.16 * per_product;  // of one in a pass over all centroids, measured

/// Milliseconds of heads (H100), as far as these decide. How much they leave falls with what they leave of rows, here
/// of embeddings, whose variances fall like 1 / j, and integers round away 1.5 % of it. The second pass of a run, the
/// first whose rows have labels, leaves about ten times as much.
struct HeadsCost {
  double pairs, d, making, of_limits, of_heads, left;

  HeadsCost(const AssignProblem& p, const HeadsForm& heads)
      : pairs(static_cast<double>(p.rows.n) * static_cast<double>(p.k)), d(static_cast<double>(p.rows.d)) {
    const bool int8 = heads.numbers == HeadNumbers::int8;
    const auto k = static_cast<double>(p.k), m = static_cast<double>(heads.columns);
    // Axes take the host a while, and rows are turned into them.
    making = m * d * (2e-5 + 2.6e-11 * static_cast<double>(p.rows.n));
    of_limits = static_cast<double>(p.rows.n) * d * static_cast<double>(size_of(p.rows.type)) / 2.5e9;
    // For each pair, products of heads take one tensor instruction a step, and integers a conversion.
    const double steps = head_steps(heads);
    of_heads = 0x1p-32 * (int8 ? 0.63 + 0.12 * steps : 0.06 + 0.178 * steps);
    const double lost = std::log(d / m) / std::log(d) + (int8 ? 0.015 : 0.0);
    left = (32 * std::exp(9.5 * lost) + 64) / k;
  }
  /// Time of a pass. Scores in lists take twice the time of scores of whole chunks.
  [[nodiscard]] double pass(double share) const {
    return of_limits + pairs * (of_heads + 2 * std::min(1.0, share) * d * per_product);
  }
  [[nodiscard]] double mean(index_t passes) const {
    constexpr double most_passes = 20;  // a run may end before
    return pass(left) + making / std::min(static_cast<double>(passes), most_passes);
  }
  [[nodiscard]] bool serves_second_pass() const { return pass(10 * left) < without * pairs * d; }
};

/// True if the kernels of heads or bounds can take the rows, and there are enough products to leave out.
bool may_choose(const AssignProblem& p, const DeviceInfo& device, bool wanted) {
  // Products of a pass below which choosing is not worth its kernels.
  constexpr double least_products = 0x1p38;
  constexpr index_t least_columns = 96, most_rows = index_t{1} << 27;
  const double products = static_cast<double>(p.rows.n) * static_cast<double>(p.k * p.rows.d);
  const bool halves = p.rows.type == DType::float16 || p.rows.type == DType::float32;
  return device.features().warpgroups && p.rows.plain && halves && !p.wide && !p.fast && p.rows.d >= least_columns &&
         p.rows.n <= most_rows && (wanted || products >= least_products);
}

}  // namespace

HeadsForm heads_form(const AssignProblem& p, index_t passes, const DeviceInfo& device, bool wanted) {
  constexpr index_t least_of_row = index_t{1} << 20;
  if (!may_choose(p, device, wanted) || (!wanted && p.k * p.rows.d < least_of_row)) return {};
  if (!assign_chosen_plan(p, assign_plans(p, device), device)) return {};
  const double products = static_cast<double>(p.rows.n) * static_cast<double>(p.k * p.rows.d);
  HeadsForm best;
  double least = wanted ? std::numeric_limits<double>::infinity() : without * products;
  for (HeadsForm form : {HeadsForm{48}, {112}, {160, HeadNumbers::int8}, {224, HeadNumbers::int8}}) {
    const HeadsCost cost(p, form);
    if (3 * form.columns > 2 * p.rows.d || cost.mean(passes) >= least) continue;
    form.from = cost.serves_second_pass() ? 1 : 2;
    best = form, least = cost.mean(passes);
  }
  return best;
}

index_t tile_rows(const ScorePlan& chosen) { return group_rows * policy_of<GroupsPolicy>(chosen.kernel).groups; }

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

KernelPlan heads_axes_plan(const HeadsForm& heads, index_t d) {
  const HeadsAxesPolicy policy{HeadsRowsShape::of(heads.columns).columns};
  return threads_plan("heads_axes", policy, ceil_div(d, policy.stage_columns) * policy.stage_columns * policy.columns);
}

KernelPlan heads_rows_plan(const RowsForm& rows, const HeadsForm& heads) {
  HeadsRowsPolicy policy{rows.type, heads.numbers, HeadsRowsShape::of(heads.columns).columns};
  std::tie(policy.vector, policy.alignment) = loads_of(rows);
  KernelPlan plan = kmeans_plan_of("heads_rows", policy);
  plan.grid = grid_of(ceil_div(rows.n, policy.rows()), INT32_MAX);
  plan.block = policy.threads;
  plan.shared_bytes = at(policy.shared_bytes(static_cast<int>(rows.d)));
  plan.budget = {policy.blocks_at_once() == 2 ? 128 : 255, 0};
  return plan;
}

KernelPlan heads_centroids_plan(HeadNumbers numbers, index_t k) {
  const index_t padded = ceil_div(k, heads_chunk) * heads_chunk;
  return threads_plan("heads_centroids", HeadsCentroidsPolicy{numbers}, 32 * std::max(padded, k + 1));
}

KernelPlan heads_limits_plan(const RowsForm& rows, const HeadsForm& heads, index_t steps, const DeviceInfo& device) {
  HeadsLimitsPolicy policy{rows.type, static_cast<int>(rows.d), static_cast<int>(steps),
                           heads.numbers == HeadNumbers::int8 ? 1 : head_steps(heads)};
  std::tie(policy.vector, policy.alignment) = loads_of(rows);
  KernelPlan plan = warps_plan("heads_limits", policy, ceil_div(rows.n, 32), device);
  plan.budget = {64, static_cast<int>(ceil_div(rows.d, 16) * 64)};
  return plan;
}

KernelPlan heads_tiles_plan(index_t rows, const HeadsForm& heads, bool each_row, const DeviceInfo& device) {
  constexpr int least_stages = 3, most_groups = 3;
  HeadsTilesPolicy policy;
  policy.each_row = each_row, policy.numbers = heads.numbers;
  policy.steps = head_steps(heads);
  policy.stage_steps = policy.steps % 4 == 0 ? 4 : 3;
  for (policy.groups = most_groups; policy.groups > 0; --policy.groups) {
    policy.stages = 0;
    const int left = device.shared_bytes_per_block - policy.shared_bytes();
    policy.stages = std::clamp(left / policy.stage_bytes(), least_stages, policy.most_stages);
    if (left >= least_stages * policy.stage_bytes()) break;
  }
  KernelPlan plan = kmeans_plan_of("heads_tiles", policy);
  plan.grid = grid_of(ceil_div(rows, std::max(policy.groups, 1) * policy.group_rows), device.multiprocessors);
  plan.block = static_cast<unsigned>(policy.threads());
  plan.shared_bytes = at(policy.shared_bytes());
  plan.budget = {policy.registers(), 0};
  return plan;
}

bool tile_bounds_may_pay(const AssignProblem& p, const DeviceInfo& device, bool wanted) {
  constexpr index_t least_centroids = 512;  // four chunks
  if (!may_choose(p, device, wanted) || (!wanted && p.k < least_centroids)) return false;
  // Longer lists than those of heads would take long where open rows are not scored again, but decided among theirs.
  const AssignPlans plans = assign_plans(p, device);
  return (wanted || plans.again) && assign_chosen_plan(p, plans, device, true);
}

ChoosingCosts choosing_costs(const AssignProblem& p, const HeadsForm& heads, bool bounds) {
  constexpr double per_gap = 0.35e-9;            // of each pair that is scored, for bounds
  constexpr double bound_bytes = 3 * 4.0 / 128;  // of each pair: a bound is read and written, and a number
  constexpr double bandwidth = 2e9;              // bytes in a millisecond
  const auto pairs = static_cast<double>(p.rows.n) * static_cast<double>(p.k), d = static_cast<double>(p.rows.d);
  const double rows = static_cast<double>(p.rows.n) * d * static_cast<double>(size_of(p.rows.type)) / bandwidth;
  ChoosingCosts costs{.all = without * pairs * d};
  if (bounds)
    costs.bounds = rows + pairs * bound_bytes / bandwidth, costs.by_bounds = pairs * (2 * d * per_product + per_gap);
  if (heads.columns == 0) return costs;
  const HeadsCost by_heads(p, heads);
  costs.heads = rows + by_heads.pass(0), costs.by_heads = pairs * 2 * d * per_product;
  return costs;
}

KernelPlan bounds_turns_plan() {
  KernelPlan plan = threads_plan("bounds_turns", BoundsTurnsPolicy{}, BoundsTurnsPolicy::threads);
  plan.budget.shared_bytes = 4 * BoundsTurnsPolicy::threads;
  return plan;
}

}  // namespace ts::inline v0::cuda
