// Centroids of one column in their order on the line, where labels follow from the boundaries between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0::assign_detail {

/// Numbers for which one centroid is certainly the nearest; none if `from` is above `to`.
struct Stretch {
  double from = 1, to = 0;
  [[nodiscard]] bool has(double x) const noexcept { return from <= x && x <= to; }
};

/// For each of k centroids, the stretch of the line where it is certainly the nearest. Certain means: by more than
/// 2^-88 of the squared differences, which pairs of float64 resolve. Close to a boundary, and where a number is so far
/// from two centroids that they tie, decide() compares as assign() does. Memory: 60 bytes for each centroid.
class Line {
 public:
  /// @param centroids k x 1. Sorts them.
  Line(HostView<const double> centroids, const ColumnMoments& moments);

  /// The stretch of centroid `label`, which may be any number; a copy of an earlier centroid has none.
  [[nodiscard]] const Stretch& stretch_of(std::int32_t label) const noexcept {
    const auto m = static_cast<std::uint32_t>(label);
    return m < of_centroids_.size() ? of_centroids_[m] : nowhere_;
  }
  /// The label of x, or -1 if that is not certain. One or two steps in the mean where centroids are spread evenly, and
  /// log2(k) at most.
  [[nodiscard]] std::int32_t find(double x) const noexcept {
    const std::size_t b = bucket(x);
    std::size_t first = buckets_[b], count = buckets_[b + 1] - first;
    while (count > 0) {  // for the first stretch that does not end before x
      const std::size_t half = count / 2;
      const bool before = order_[first + half].to < x;
      first += before ? half + 1 : 0;
      count = before ? count - half - 1 : half;
    }
    return order_[first].has(x) ? numbers_[first] : -1;
  }
  /// The label of x, the lowest among equals.
  [[nodiscard]] std::int32_t decide(double x) const;

  /// Their values in ascending order, without copies.
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }
  /// Numbers of these centroids.
  [[nodiscard]] const std::vector<std::int32_t>& numbers() const noexcept { return numbers_; }

 private:
  void set_stretches();
  void set_buckets();
  /// Never less for a larger x.
  [[nodiscard]] std::size_t bucket(double x) const noexcept {
    const double place = (x - least_) * per_unit_;
    return place > 0 ? at(std::min(place, static_cast<double>(buckets_.size() - 2))) : 0;
  }

  double scale_, shrink_ = 1;  ///< as Scored has them
  Stretch nowhere_;
  std::vector<double> values_;
  std::vector<std::int32_t> numbers_;
  std::vector<Stretch> order_, of_centroids_;
  double least_ = 0, per_unit_ = 0;
  std::vector<std::uint32_t> buckets_;  ///< the first stretch that may hold a number of each bucket; one more
};

}  // namespace ts::inline v0::assign_detail
