// Distances for rows in device memory. The arguments were checked.
#pragma once

#include "tallskinny/gemm/assign/exact/distances.hpp"

namespace ts::inline v0::assign_device {

/// To host memory.
void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances);
/// sum_i w_i ||x_i - c_label||^2 of each chunk.
std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights);
index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels);

}  // namespace ts::inline v0::assign_device
