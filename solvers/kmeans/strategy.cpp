#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

#include <algorithm>

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t least_columns = 48, least_clusters = 64, least_rows = 4096;  ///< below, heads and pairs are not tried
constexpr index_t most_columns = 1 << 16;                                      ///< of sums of products in 32 bits
constexpr index_t least_columns_of_pairs = 384;
constexpr int least_passes_of_pairs = 4;  ///< the first of them skips nothing
constexpr double cost_of_row_bounds = 512;
/// Of a column of a row that is read, rounded, and met by the centroid of its label.
constexpr double reading_cost = 100;

}  // namespace

double PassCosts::without() const noexcept {
  const auto d = static_cast<double>(cols);
  const double of_pair = cols >= least_columns_of_int8 ? of.column * d + of.rest : d;
  return static_cast<double>(clusters) * of_pair + reading_cost * d;
}

double PassCosts::with_pairs(double headed, double met) const noexcept {
  // What bounds of a pair cost is some 8 columns.
  const auto d = static_cast<double>(cols);
  return static_cast<double>(clusters) * (headed * of.column * d + met * (d + 500) + 8);
}

double PassCosts::with_heads(index_t columns, double headed, double met) const noexcept {
  // Measured on a processor with AVX-512 VNNI: a centroid met alone, in 8 bits and sometimes in float32, costs as much
  // as 2500 more products than it has.
  const auto d = static_cast<double>(cols);
  const double of_head = of.column * static_cast<double>(columns) + of.rest_of_heads;
  return static_cast<double>(clusters) * (headed * of_head + met * (d + 2500)) + reading_cost * d;
}

double PassCosts::of_heads(index_t columns, int passes) const noexcept {
  constexpr double of_making = 6;  // products in float32
  return of_making * static_cast<double>(cols * columns) / std::max(1, passes);
}

double PassCosts::most_with_heads() const noexcept {
  constexpr double share = 0.75;
  return share * without();
}

bool heads_serve(index_t rows, index_t cols, index_t clusters) noexcept {
  return cols >= least_columns && cols <= most_columns && clusters >= least_clusters && rows >= least_rows;
}

bool pairs_serve(index_t rows, index_t cols, index_t clusters) noexcept {
  // Bounds and bytes take as much as rows in float32 at most.
  return heads_serve(rows, cols, clusters) && cols >= least_columns_of_pairs && 2 * clusters <= 3 * cols;
}

PassStrategy::PassStrategy(const Shape& shape, Scores scores) noexcept
    : shape_(shape),
      scores_(scores),
      rows_rest_(wide()),
      prunes_(shape.bounds && shape.host && shape.in_memory && shape.bytes) {
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

PassFilter PassStrategy::choose(int done, int left, index_t changed) noexcept {
  if (filter_ == PassFilter::pairs || filter_ == PassFilter::heads) return filter_;
  filter_ = plain();
  if (done == 0 || !prunes_) return filter_;
  const PassCosts& costs = shape_.costs;
  if (pairs_serve(shape_.rows, costs.cols, costs.clusters)) {
    if (left >= least_passes_of_pairs) filter_ = PassFilter::pairs;
    prunes_ = filter_ == PassFilter::pairs;
    return filter_;
  }
  if (!heads_serve(shape_.rows, costs.cols, costs.clusters) || !of_heads_.due(changed)) return filter_;
  // Whether heads pay if they leave nothing, which fewer columns than these never did.
  const index_t columns = std::min(costs.cols, index_t{64});
  const double least =
      costs.with_heads(columns, headed_share, 0) + costs.of_heads(columns, std::min(most_passes_of_heads, left));
  if (least <= costs.most_with_heads())
    filter_ = PassFilter::heads;
  else
    prunes_ = false;
  return filter_;
}

void PassStrategy::refuse(index_t changed) noexcept {
  if (filter_ == PassFilter::pairs) prunes_ = false;
  if (filter_ == PassFilter::heads) of_heads_.failed(changed);
  filter_ = plain();
}

void PassStrategy::passed(const AssignStats& here, const AssignStats& all, bool held, index_t columns) noexcept {
  const PassCosts& costs = shape_.costs;
  const double pairs = static_cast<double>(shape_.rows) * static_cast<double>(costs.clusters);
  const double headed = static_cast<double>(here.headed) / pairs,
               met = static_cast<double>(here.shortened + here.met) / pairs;
  constexpr double enough = 1.1;  // bounds of pairs get better from pass to pass
  const bool pays = filter_ == PassFilter::pairs ? costs.with_pairs(headed, met) < enough * costs.without()
                                                 : costs.with_heads(columns, headed, met) < costs.without();
  if (filter_ == PassFilter::pairs || filter_ == PassFilter::heads) {
    if (!pays) prunes_ = false, filter_ = plain();
  } else if (shape_.host) {
    judge_rows(all, held);
  }
  raise_scores(all);
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
    scores_ = Scores::float64, prunes_ = false, filter_ = plain();
}

}  // namespace ts::inline v0::solvers::kmeans_detail
