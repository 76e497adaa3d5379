#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

#include <algorithm>

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t least_columns = 48, least_clusters = 64, least_rows = 4096;  ///< of bounds of groups
constexpr index_t most_columns = 1 << 16;                                      ///< of sums of products in 32 bits
constexpr int least_passes = 4;                                                ///< the first with bounds skips nothing
constexpr double cost_of_row_bounds = 512;
/// Cost of a column of a row that is read, rounded, and scored with the centroid of its label.
constexpr double reading_cost = 100;
/// Cost of a row that is scored with any group of 32: of its bounds and lists.
constexpr double undecided_row_cost = 20000;

}  // namespace

double PassCosts::without() const noexcept {
  const auto d = static_cast<double>(cols);
  const double of_pair = cols >= least_columns_of_int8 ? of.column * d + of.per_pair : d;
  return static_cast<double>(clusters) * of_pair + reading_cost * d;
}

double PassCosts::with_groups(double coarse, double scored, double undecided) const noexcept {
  // Measured: a centroid scored alone in float32 costs as much as 2500 more products than it has, as its row comes from
  // memory.
  const auto d = static_cast<double>(cols), k = static_cast<double>(clusters);
  return k * (coarse * (of.column * d + of.per_coarse_pair) + scored * (d + 2500)) + undecided * undecided_row_cost +
         reading_cost * d;
}

bool groups_serve(index_t rows, index_t cols, index_t clusters) noexcept {
  return cols >= least_columns && cols <= most_columns && rows >= least_rows && clusters >= least_clusters;
}

PassStrategy::PassStrategy(const Shape& shape, Scores scores) noexcept
    : shape_(shape),
      scores_(scores),
      rows_unused_(wide()),
      groups_serve_(shape.host && shape.in_memory && shape.bytes &&
                    groups_serve(shape.rows, shape.costs.cols, shape.costs.clusters)) {
  const double products = static_cast<double>(shape.costs.clusters) * static_cast<double>(shape.costs.cols);
  least_skipped_ = cost_of_row_bounds / (cost_of_row_bounds + products);
  // Where half of the groups cost more than all centroids, they wait until bounds leave whole rows alone.
  constexpr index_t one_of = 32;
  if (shape.costs.with_groups(0.5, 0, 1) > shape.costs.without() && !wanted())
    of_groups_ = Attempts(shape.all_rows / one_of);
  // Bounds of rows of few products cost more than these, unless hardly a label changes.
  rows_unused_ = rows_unused_ || products < cost_of_row_bounds;
  if (rows_unused_) of_rows_ = Attempts(shape.all_rows / one_of);
  if (!wide()) return;
  least_skipped_ = std::max(least_skipped_, shape.costs.of.least_skipped);
  of_rows_ = Attempts(shape.all_rows / shape.costs.of.least_changed);
}

/// Passes without a filter have scores of 8 bits then, which bounds of rows cannot use.
bool PassStrategy::wide() const noexcept {
  return shape_.host && scores_ == Scores::int8 && shape_.costs.cols >= least_columns_of_int8 && shape_.bytes;
}

void PassStrategy::offer(const FilterCosts& costs) noexcept {
  there_ = costs;
  // Bounds of tiles leave many pairs while many labels change; with projections less is to be gained.
  constexpr index_t one_of = 16, one_of_without_projections = 8;
  if (!wanted())
    of_tiles_ = Attempts(shape_.all_rows / (costs.has_projections() ? one_of : one_of_without_projections));
}

/// A tenth of a run, of 20 passes at least.
double PassStrategy::budget(double without) const noexcept {
  constexpr double share = 0.1;
  constexpr int passes = 20;
  return share * without * std::max(done_, std::min(done_ + left_, passes));
}

bool PassStrategy::spend(double cost, double without) noexcept {
  spent_ = std::max(0.0, spent_ + cost - without);
  return !wanted() && spent_ >= budget(without);
}

PassFilter PassStrategy::choose(int done, int left, index_t changed) noexcept {
  done_ = done, left_ = left;
  if (shape_.filter == KMeansFilter::none) return filter_ = PassFilter::none;
  return filter_ = shape_.host ? choose_here(left, changed) : choose_there(left, changed);
}

PassFilter PassStrategy::choose_here(int left, index_t changed) const noexcept {
  const PassFilter rows = rows_unused_ && !wanted() ? PassFilter::none : PassFilter::rows;
  if (shape_.filter == KMeansFilter::projection) return PassFilter::none;
  if (!groups_serve_ || done_ == 0) return rows;
  const bool goes_on = filter_ == PassFilter::groups;
  const bool tries = left >= least_passes && spent_ < budget(shape_.costs.without()) && of_groups_.due(changed);
  return goes_on || tries || wanted() ? PassFilter::groups : rows;
}

PassFilter PassStrategy::choose_there(int left, index_t changed) const noexcept {
  constexpr int least_left = 6;
  const bool affordable = spent_ + there_.making_bounds(share_of_projections_) < budget(there_.all) + there_.all;
  if (tiles_known_ ||
      (there_.has_bounds() && of_tiles_.due(changed) && (wanted() || (left >= least_left && affordable))))
    return PassFilter::tiles;
  return there_.has_projections() && of_projection_.due(changed) ? PassFilter::projection : PassFilter::none;
}

void PassStrategy::passed(const AssignStats& here, const AssignStats& all, bool held) noexcept {
  constexpr index_t few = 16;
  stable_ = all.changed <= shape_.all_rows / few;
  if (!shape_.host)
    judge_there(here);
  else if (filter_ == PassFilter::groups)
    judge_groups(here);
  else
    judge_rows(all, held);
  raise_scores(all);
}

void PassStrategy::judge_groups(const AssignStats& here) noexcept {
  const PassCosts& costs = shape_.costs;
  const auto rows = static_cast<double>(shape_.rows);
  const double pairs = rows * static_cast<double>(costs.clusters);
  const double cost =
      costs.with_groups(static_cast<double>(here.coarse) / pairs, static_cast<double>(here.scored) / pairs,
                        1 - static_cast<double>(here.skipped) / rows);
  if (!spend(cost, costs.without())) return;
  of_groups_.failed(here.changed);
  filter_ = PassFilter::none;
}

void PassStrategy::judge_there(const AssignStats& here) noexcept {
  const double pairs = static_cast<double>(shape_.rows) * static_cast<double>(shape_.costs.clusters);
  const double share = std::min(1.0, static_cast<double>(here.scored) / pairs);
  const double usual =
      there_.has_projections() ? std::min(there_.all, there_.with_projections(share_of_projections_)) : there_.all;
  if (here.filter == PassFilter::projection) {
    share_of_projections_ = share;
    if (spend(there_.with_projections(share), there_.all)) of_projection_.failed(here.changed);
  }
  const bool made = here.filter == PassFilter::tiles && !tiles_known_;
  tiles_known_ = here.filter == PassFilter::tiles;
  if (!tiles_known_) return;
  if (!spend(made ? there_.making_bounds(share_of_projections_) : there_.with_bounds(share), usual)) return;
  tiles_known_ = false;
  of_tiles_.failed(here.changed);
}

void PassStrategy::judge_rows(const AssignStats& all, bool held) noexcept {
  if (rows_unused_) {
    rows_unused_ = !of_rows_.due(all.changed);
  } else if (held && static_cast<double>(all.skipped) < least_skipped_ * static_cast<double>(shape_.all_rows)) {
    rows_unused_ = true;
    of_rows_.failed(all.changed);
  }
}

void PassStrategy::raise_scores(const AssignStats& all) noexcept {
  // Deciding a row again costs about as much as scoring it in float64 does for four, and as float32 adds to integers
  // for eight.
  const index_t read = shape_.all_rows - all.skipped;
  if ((scores_ == Scores::int8 || scores_ == Scores::int16) && all.rescored > read / 8)
    scores_ = Scores::float32;
  else if (scores_ == Scores::float32 && all.rescored > read / 4)
    scores_ = Scores::float64, groups_serve_ = false, filter_ = PassFilter::none;
}

}  // namespace ts::inline v0::solvers::kmeans_detail

std::uint64_t ts::solvers::group_bounds_bytes(index_t rows, index_t cols, index_t clusters) noexcept {
  return kmeans_detail::groups_serve(rows, cols, clusters) ? GroupBounds::bytes(rows, cols, clusters) : 0;
}
