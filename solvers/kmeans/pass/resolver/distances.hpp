// Distances of rows to the centroids of their labels, and what follows from them: inertia, and the oracle.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"

namespace ts::inline v0 {

/// distances[i] = ||x_i - c_{labels[i]}||^2 by direct differences in float64 (sparse rows: accumulated in
/// long double over the entries). The same bits for any thread count and instruction set.
void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances);

/// A row, and ||x_i - c_label||^2 by direct differences in float64.
struct FarRow {
  double squared_distance;
  index_t row, label;
};
/// Keeps the `count` farthest of these rows, or all if there are fewer: the farthest first, the lowest number among
/// equals.
void keep_farthest(std::vector<FarRow>& rows, index_t count);
/// The `count` rows that lie farthest from the centroids of their labels, as keep_farthest() orders them. Rows on a
/// device are measured there, in one pass, and few numbers are fetched.
std::vector<FarRow> farthest_rows(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                  PerRow<const std::int32_t> labels, index_t count);

/// sum_i w_i ||x_i - c_{labels[i]}||^2, the terms as above, added in a fixed tree.
double inertia(const Context& ctx, const Rows& x, HostView<const double> centroids, PerRow<const std::int32_t> labels,
               PerRow<const double> weights);

/// The terms of inertia() by chunks of rows; inertia() adds them in order.
std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights);

/// The float64 oracle: the number of rows for which some centroid is closer than that of their label by more
/// than rounding of direct differences explains, (d + 3) 2^-51 of the squared distance. Cost: 3 n d k flops.
index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels);

/// The n x k matrix of Euclidean distances ||x_i - c_j||, by direct differences.
void distances(const Context& ctx, const Rows& x, HostView<const double> centroids, HostView<double> out);

}  // namespace ts::inline v0

namespace ts::inline v0::assign_device {

/// farthest_rows() of rows on a device, from centroids there (k x d, contiguous).
std::vector<FarRow> farthest_rows(const Context& ctx, const Rows& x, const double* centroids,
                                  PerRow<const std::int32_t> labels, index_t count);

}  // namespace ts::inline v0::assign_device
