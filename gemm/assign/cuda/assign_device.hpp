// assign() and what belongs to it for rows in device memory. The arguments were checked.
#pragma once

#include "tallskinny/gemm/assign/assign.hpp"

namespace ts::assign_device {

AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   HostView<const double> centroids, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums,
                   bool settled = false);
void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit,
              ClusterSums& sums);

/// What chunks of rows leave for each column, chunks x columns: their sums; and with `moments` the largest
/// |x - shift| and the sum of (x - mean)^2.
Matrix<double> chunk_sums(const Context& ctx, const Rows& x);
struct ChunkSpread {
  Matrix<double> reach, squares;
};
ChunkSpread chunk_spread(const Context& ctx, const Rows& x, const ColumnMoments& moments);
/// As Rows::first_not_finite.
std::pair<index_t, index_t> first_not_finite(const Context& ctx, const Rows& x);

/// To host memory.
void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances);
/// sum_i w_i ||x_i - c_label||^2 of each chunk.
std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights);
index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels);

}  // namespace ts::assign_device
