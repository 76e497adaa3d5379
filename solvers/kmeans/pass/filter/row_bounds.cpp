#include "tallskinny/solvers/kmeans/pass/filter/row_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/host_pass.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0 {

namespace {

float rounded_up(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) < x ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
}

float rounded_down(double x) {
  const auto f = static_cast<float>(std::max(x, 0.0));
  return static_cast<double>(f) > x ? std::nextafter(f, 0.0F) : f;
}

/// Distances between centroids pay where they are few beside the rows.
constexpr index_t rows_for_each_centroid = 512;

}  // namespace

RowBounds::RowBounds(index_t rows) : rows_(rows), upper_(static_cast<std::size_t>(rows)), lower_(upper_.size()) {}

void RowBounds::begin_pass(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments) {
  const index_t k = centroids.rows(), d = centroids.cols();
  const double scale = assign_detail::scoring_scale(centroids, moments);
  Matrix<double> scaled(k, d);
  for (index_t m = 0; m < k; ++m)
    for (index_t j = 0; j < d; ++j)
      scaled(m, j) = (centroids(m, j) - moments.shift[static_cast<std::size_t>(j)]) * scale;
  hold_ = scaled_.rows() == k && scaled_.cols() == d && scale == scale_ && !copies_;
  const auto& kernels = assign_cpu::select(ctx.simd);
  // Coordinates are at most 1 and rounded twice; the sum of d squares is rounded d + 2 times.
  const double slack = 1 + static_cast<double>(d + 8) * 0x1p-52;
  const double rounding = std::sqrt(static_cast<double>(d)) * 0x1p-50;
  moved_.assign(static_cast<std::size_t>(k), 0);
  half_gap_.assign(static_cast<std::size_t>(k), 0);
  if (hold_) {
    for (index_t m = 0; m < k; ++m) {
      const double squared = kernels.squared_difference(scaled.data() + m * d, scaled_.data() + m * d, d);
      if (!std::equal(scaled.data() + m * d, scaled.data() + (m + 1) * d, scaled_.data() + m * d))
        moved_[static_cast<std::size_t>(m)] = rounded_up(std::sqrt(squared) * slack + rounding);
    }
    if (k > 1 && k * rows_for_each_centroid <= all_rows(ctx, rows_)) {
      parallel_for(k * k * d > (1 << 18) ? ctx.thread_count() : 1, k, [&](index_t m) {
        double least = std::numeric_limits<double>::infinity();
        for (index_t q = 0; q < k; ++q)
          if (q != m)
            least = std::min(least, kernels.squared_difference(scaled.data() + m * d, scaled.data() + q * d, d));
        half_gap_[static_cast<std::size_t>(m)] = rounded_down((std::sqrt(least) / slack - rounding) / 2);
      });
    }
  } else {
    std::fill(upper_.begin(), upper_.end(), std::numeric_limits<float>::infinity());
    std::fill(lower_.begin(), lower_.end(), 0.0F);
  }
  const std::vector<bool> copy = assign_detail::copies(centroids);
  copies_ = std::find(copy.begin(), copy.end(), true) != copy.end();
  scaled_ = std::move(scaled);
  scale_ = scale;
}

namespace assign_detail {

assign_cpu::CentroidSteps steps_of(BoundsOfRows bounds) {
  if (bounds.all == nullptr || !bounds.all->hold()) return {};
  const std::vector<float>& moved = bounds.all->moved();
  assign_cpu::CentroidSteps steps{moved.data(), bounds.all->half_gap().data()};
  const auto most = std::max_element(moved.begin(), moved.end());
  steps.farthest = static_cast<std::int32_t>(most - moved.begin());
  steps.most_moved = *most;
  for (auto m = moved.begin(); m != moved.end(); ++m)
    if (m != most) steps.second_most_moved = std::max(steps.second_most_moved, *m);
  return steps;
}

}  // namespace assign_detail

}  // namespace ts::inline v0
