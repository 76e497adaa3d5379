// Centroids in groups, as scoring kernels for dense rows on the host take them, as floating-point numbers and as
// integers, and the margins of their scores.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0::assign_detail {

/// With x the shifted and scaled row, c such a centroid, and integers q = round(a x) and p = round(b c),
///   | x c - q p / (a b) |  <=  ||x|| ||c - p / b|| + ||x - q / a|| ||p / b||  =  e.
/// The scale a of rows is common, b is a centroid's own: together the largest for which sums q p over a block
/// of columns stay below 2^31 if ||x||^2 <= largest_squared, in the proportion that makes e least, which then
/// is in proportion to ||c||. So each score begins with ||c||^2 / 2 - e, a bound from below, and the margin
/// of the best is 2 e of its own. Rows with larger norms are not decided.
struct IntegerScores {
  index_t pairs = 0;
  float row_scale = 1, largest_squared = 0;
  // For groups x group centroids, those that fill up the last group among them:
  Matrix<std::int32_t> grouped;           ///< -p of elements 2i and 2i + 1 at (g pairs + i) group + m
  std::vector<float> half_norms;          ///< ||c||^2 / 2 - e; infinite for copies
  std::vector<float> scales;              ///< 1 / (a b)
  std::vector<float> margins;             ///< 2 e
  assign_cpu::ScoreMargin<float> margin;  ///< what rounding adds to that, and to norms of q / a

  IntegerScores(const Scored<float>& centroids, const ColumnMoments& moments, index_t group);
};

template <class S>
struct GroupedScores {
  Scored<S> centroids;
  index_t groups = 0;
  Matrix<S> negated;          ///< GroupedCentroids::negated
  std::vector<S> half_norms;  ///< GroupedCentroids::half_norms
  assign_cpu::ScoreMargin<S> margin;
  std::optional<IntegerScores> integers;  ///< if these are asked for, and pay

  GroupedScores(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments, Scores scores,
                Copies of_copies = Copies::never_win);

  [[nodiscard]] assign_cpu::GroupedCentroids<S> view() const noexcept {
    return {negated.data(), half_norms.data(), groups};
  }
  /// The centroids as integers.
  [[nodiscard]] assign_cpu::GroupedPairs pairs() const noexcept {
    return {integers->grouped.data(), integers->scales.data(), integers->half_norms.data(), groups};
  }
};

extern template struct GroupedScores<float>;
extern template struct GroupedScores<double>;

}  // namespace ts::inline v0::assign_detail
