// What each cluster is like, in terms of its features and of some of its rows.
#pragma once

#include <vector>

#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::inline v0::solvers {

struct ClusterTraits {
  /// k x d: how far the mean of the members lies from the mean of all rows, in units of the standard deviation of all
  /// rows; 0 where a feature is the same in all rows, NaN for a cluster without rows.
  Matrix<double> deviations;
  /// Of each cluster the members nearest to its centre, the nearest first, equally near ones in their order: numbers of
  /// rows among those of all ranks.
  std::vector<std::vector<index_t>> nearest;
};

/// Of labels and centres as kmeans() or predict() give them; every row counts once. Of the directions of the rows for
/// cosine. Four passes over the rows, and 8 bytes for each. All ranks call it together, and have all of the result.
/// @param most rows named of each cluster
/// @throws as measure().
[[nodiscard]] ClusterTraits traits_of(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                                      std::span<const std::int32_t> labels,
                                      KMeansMetric metric = KMeansMetric::euclidean, index_t most = 3);

}  // namespace ts::inline v0::solvers
