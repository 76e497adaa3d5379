// How well a clustering describes its rows.
#pragma once

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

/// Of labels and centres as kmeans() or predict() give them; weights count rows. Three passes over the rows,
/// one of them with n k distances. The directions of the rows for cosine. Clusters without rows do not count.
/// Distances to the nearest other centre are rounded to float32.
/// @throws as predict.
[[nodiscard]] KMeansMeasures measure(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                                     std::span<const std::int32_t> labels,
                                     KMeansMetric metric = KMeansMetric::euclidean,
                                     std::span<const double> weights = {});

}  // namespace ts::inline v0::solvers
