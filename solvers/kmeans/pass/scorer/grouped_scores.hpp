// Centroids in groups, as scoring kernels for dense rows on the host take them, and the margins of their scores.
#pragma once

#include <optional>

#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/integer_scores.hpp"

namespace ts::inline v0::assign_detail {

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
  /// Of the integers.
  [[nodiscard]] assign_cpu::GroupedPairs pairs() const noexcept {
    return {integers->grouped.data(), integers->scales.data(), integers->half_norms.data(), groups};
  }
};

extern template struct GroupedScores<float>;
extern template struct GroupedScores<double>;

}  // namespace ts::inline v0::assign_detail
