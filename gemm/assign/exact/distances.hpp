// Distances of rows to the centroids of their labels, and what follows from them: inertia, and the oracle.
#pragma once

#include <span>

#include "tallskinny/gemm/assign/rows/chunks.hpp"

namespace ts::inline v0 {

/// distances[i] = ||x_i - c_{labels[i]}||^2 by direct differences in float64 (sparse rows: accumulated in
/// long double over the entries). The same bits for any thread count and instruction set.
void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances);

/// sum_i w_i ||x_i - c_{labels[i]}||^2, the terms as above, added in a fixed tree.
/// `before`: of the blocks of rows before these (each a multiple of chunk_rows long), to which it is added.
double inertia(const Context& ctx, const Rows& x, HostView<const double> centroids, PerRow<const std::int32_t> labels,
               PerRow<const double> weights, double before = 0);

/// The same terms of each chunk alone; inertia() adds them in order.
std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights);

/// The float64 oracle: the number of rows for which some centroid is closer than that of their label by more
/// than rounding of direct differences explains, (d + 3) 2^-51 of the squared distance. Cost: 3 n d k flops.
index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels);

/// The n x k matrix of Euclidean distances ||x_i - c_j||, by direct differences.
void distances(const Context& ctx, const Rows& x, HostView<const double> centroids, HostView<double> out);

}  // namespace ts::inline v0
