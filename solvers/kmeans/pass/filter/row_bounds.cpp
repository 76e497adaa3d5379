#include "tallskinny/solvers/kmeans/pass/filter/row_bounds.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0 {

namespace {

/// Rows for each centroid from which distances between centroids pay.
constexpr index_t rows_for_each_centroid = 512;

}  // namespace

RowBounds::RowBounds(index_t rows) : rows_(rows), upper_(at(rows)), lower_(upper_.size()) {}

void RowBounds::begin_pass(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments) {
  const index_t k = centroids.rows(), d = centroids.cols();
  const double scale = assign_detail::scoring_scale(centroids, moments);
  Matrix<double> scaled = assign_detail::scaled_centroids(ctx, centroids, moments, scale);
  hold_ = scaled_.rows() == k && scaled_.cols() == d && scale == scale_ && !copies_;
  moved_.assign(at(k), 0), half_gap_ = moved_;
  if (hold_) {
    moved_ = assign_detail::steps_between(ctx, scaled_.cview(), scaled.cview());
    if (k > 1 && k * rows_for_each_centroid <= all_rows(ctx, rows_))
      half_gap_ = assign_detail::half_gaps_between(ctx, scaled.cview());
    set_steps();
  } else {
    std::fill(upper_.begin(), upper_.end(), std::numeric_limits<float>::infinity());
    std::fill(lower_.begin(), lower_.end(), 0.0F);
  }
  const std::vector<bool> copy = assign_detail::copies(centroids);
  copies_ = std::find(copy.begin(), copy.end(), true) != copy.end();
  scaled_ = std::move(scaled);
  scale_ = scale;
}

void RowBounds::set_steps() {
  const auto most = std::max_element(moved_.begin(), moved_.end());
  steps_ = {moved_.data(), half_gap_.data(), static_cast<std::int32_t>(most - moved_.begin()), *most};
  for (auto m = moved_.begin(); m != moved_.end(); ++m)
    if (m != most) steps_.second_most_moved = std::max(steps_.second_most_moved, *m);
}

}  // namespace ts::inline v0
