#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

#include <algorithm>

#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t least_columns = 48, least_clusters = 64, least_rows = 4096;  ///< of bounds of groups
constexpr index_t most_columns = 1 << 16;                                      ///< of sums of products in 32 bits
constexpr int least_passes = 4;                                                ///< the first with bounds skips nothing
constexpr double cost_of_row_bounds = 512;
/// Of a column of a row that is read, rounded, and met by the centroid of its label.
constexpr double reading_cost = 100;

}  // namespace

double PassCosts::without() const noexcept {
  const auto d = static_cast<double>(cols);
  const double of_pair = cols >= least_columns_of_int8 ? of.column * d + of.rest : d;
  return static_cast<double>(clusters) * of_pair + reading_cost * d;
}

double PassCosts::with_groups(index_t group, double coarse, double met) const noexcept {
  // Measured: what bounds of a pair cost is some 8 columns; with groups a centroid met alone in float32 costs as much as
  // 2500 more products than it has, as its row comes from memory.
  const auto d = static_cast<double>(cols), k = static_cast<double>(clusters);
  if (group == 1) return k * (coarse * of.column * d + met * (d + 500) + 8);
  return k * (coarse * (of.column * d + of.rest_of_heads) + met * (d + 2500)) + reading_cost * d;
}

bool groups_serve(index_t rows, index_t cols, index_t clusters) noexcept {
  return cols >= least_columns && cols <= most_columns && clusters >= least_clusters && rows >= least_rows;
}

PassStrategy::PassStrategy(const Shape& shape, Scores scores) noexcept
    : shape_(shape),
      scores_(scores),
      rows_rest_(wide()),
      groups_serve_(shape.bounds && shape.host && shape.in_memory && shape.bytes &&
                    groups_serve(shape.rows, shape.costs.cols, shape.costs.clusters)) {
  const double products = static_cast<double>(shape.costs.clusters) * static_cast<double>(shape.costs.cols);
  least_skipped_ = cost_of_row_bounds / (cost_of_row_bounds + products);
  if (!wide()) return;
  least_skipped_ = std::max(least_skipped_, shape.costs.of.least_skipped);
  of_rows_ = Attempts(shape.all_rows / shape.costs.of.least_changed);
}

/// Passes without a filter have scores of 8 bits then, which bounds of rows cannot use.
bool PassStrategy::wide() const noexcept {
  return shape_.host && scores_ == Scores::int8 && shape_.costs.cols >= least_columns_of_int8 && shape_.bytes;
}

PassFilter PassStrategy::plain() const noexcept {
  return shape_.bounds && !rows_rest_ ? PassFilter::rows : PassFilter::none;
}

/// A tenth of a run, of 20 passes at least.
double PassStrategy::budget() const noexcept {
  constexpr double share = 0.1;
  constexpr int passes = 20;
  return share * shape_.costs.without() * std::max(done_, std::min(done_ + left_, passes));
}

PassFilter PassStrategy::choose(int done, int left, index_t changed) noexcept {
  done_ = done, left_ = left;
  if (filter_ == PassFilter::groups) return filter_;
  filter_ = plain();
  const bool long_enough = left >= least_passes && spent_ < budget();
  if (groups_serve_ && done > 0 && long_enough && of_groups_.due(changed)) filter_ = PassFilter::groups;
  return filter_;
}

void PassStrategy::refuse() noexcept { groups_serve_ = false, filter_ = plain(); }

void PassStrategy::passed(const AssignStats& here, const AssignStats& all, bool held) noexcept {
  if (filter_ == PassFilter::groups)
    judge_groups(here);
  else if (shape_.host)
    judge_rows(all, held);
  raise_scores(all);
}

void PassStrategy::judge_groups(const AssignStats& here) noexcept {
  const PassCosts& costs = shape_.costs;
  const double pairs = static_cast<double>(shape_.rows) * static_cast<double>(costs.clusters);
  const double cost =
      costs.with_groups(GroupBounds::group_for(costs.cols, costs.clusters), static_cast<double>(here.coarse) / pairs,
                        static_cast<double>(here.met) / pairs);
  spent_ = std::max(0.0, spent_ + cost - costs.without());
  if (spent_ < budget()) return;
  of_groups_.failed(here.changed);
  filter_ = plain();
}

void PassStrategy::judge_rows(const AssignStats& all, bool held) noexcept {
  if (rows_rest_) {
    rows_rest_ = !of_rows_.due(all.changed);
  } else if (held && static_cast<double>(all.skipped) < least_skipped_ * static_cast<double>(shape_.all_rows)) {
    rows_rest_ = true;
    of_rows_.failed(all.changed);
  }
}

void PassStrategy::raise_scores(const AssignStats& all) noexcept {
  // Deciding a row again costs about as much as scoring it in float64 does for four, and as float32 adds to integers
  // for eight.
  const index_t looked_at = shape_.all_rows - all.skipped;
  if ((scores_ == Scores::int8 || scores_ == Scores::int16) && all.rescored > looked_at / 8)
    scores_ = Scores::float32;
  else if (scores_ == Scores::float32 && all.rescored > looked_at / 4)
    scores_ = Scores::float64, groups_serve_ = false, filter_ = plain();
}

}  // namespace ts::inline v0::solvers::kmeans_detail

std::uint64_t ts::solvers::group_bounds_bytes(index_t rows, index_t cols, index_t clusters) noexcept {
  if (!kmeans_detail::groups_serve(rows, cols, clusters)) return 0;
  return GroupBounds::bytes(rows, cols, clusters, GroupBounds::group_for(cols, clusters));
}
