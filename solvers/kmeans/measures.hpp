// Measures of quality of a clustering, traits of its clusters, and agreement of two labellings.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::inline v0::solvers {

/// NaN where a measure is not defined: for one cluster, or (Calinski-Harabasz) as many as rows.
struct KMeansMeasures {
  /// Mean of (b - a) / max(a, b) with the distances a to the own centre and b to the nearest other one, 0 for
  /// the only row of a cluster; from -1 to 1. Hruschka, de Castro, Campello 2004, "simplified silhouette".
  double simplified_silhouette = 0;
  /// Mean over clusters of max_j (s_i + s_j) / ||mean_i - mean_j||, s the mean distance of the members to
  /// their mean; less is better. Davies, Bouldin 1979.
  double davies_bouldin = 0;
  /// (between / (k - 1)) / (within / (n - k)), sums of squares about means; more is better. Calinski,
  /// Harabasz 1974.
  double calinski_harabasz = 0;
};

/// Measures the quality of labels and centres from kmeans() or predict(); weights count rows. The cosine metric
/// measures the directions of rows. Clusters without rows do not count. Distances to the nearest other centre are
/// rounded to float32. Takes three passes over the rows, one of them with n k distances.
/// @throws as predict.
[[nodiscard]] KMeansMeasures measure(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                                     std::span<const std::int32_t> labels,
                                     KMeansMetric metric = KMeansMetric::euclidean,
                                     std::span<const double> weights = {});

struct ClusterTraits {
  /// k x d: how far the mean of the members lies from the mean of all rows, in units of the standard deviation of all
  /// rows; 0 where a feature is the same in all rows, NaN for a cluster without rows.
  Matrix<double> deviations;
  /// For each cluster, row numbers of the members nearest to its centre, nearest first, among all ranks; ties in row
  /// order.
  std::vector<std::vector<index_t>> nearest;
};

/// Traits of the clusters that kmeans() or predict() found; every row counts once. The cosine metric takes the
/// directions of rows. Four passes over the rows, and 8 bytes for each row. All ranks call it together, and each gets
/// the whole result.
/// @param most rows named of each cluster
/// @throws as measure().
[[nodiscard]] ClusterTraits traits_of(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                                      std::span<const std::int32_t> labels,
                                      KMeansMetric metric = KMeansMetric::euclidean, index_t most = 3);

/// The adjusted Rand index, whatever the numbers of the labels: 1 for the same clusters, about 0 for labels by chance.
/// Of several ranks each passes its rows, and all get the index of all rows. Source: Hubert and Arabie 1985.
/// @param labels, known for each row a number from 0 on, below `clusters` and `classes`, which all ranks agree on
[[nodiscard]] double adjusted_rand_index(const Context& ctx, std::span<const std::int32_t> labels,
                                         std::span<const std::int32_t> known, index_t clusters, index_t classes);

}  // namespace ts::inline v0::solvers
