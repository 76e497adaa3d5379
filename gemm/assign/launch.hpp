// assign() and what belongs to it for rows in device memory. The arguments were checked.
#pragma once

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/assign/loose_rows.hpp"

namespace ts::assign_device {

/// How far from the shift centroids lie.
struct Spread {
  double scale = 1;    ///< the inverse power of two of the largest |c_j - shift_j|, of rows, too
  double squared = 0;  ///< the largest ||(c - shift) scale||^2
};

/// What a pass needs to know of centroids, and what it needs in device memory.
struct PlacedCentroids {
  index_t count = 0;
  Spread spread;
  const double* rows = nullptr;                        ///< count x d
  const double* first_column = nullptr;                ///< of all, side by side
  const double *shift = nullptr, *to_units = nullptr;  ///< of each column; to_units only for sums
  std::uint64_t* sums = nullptr;  ///< which move with the labels, as ClusterSums::add_words has them; or none
};

AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   HostView<const double> centroids, Scores scores, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums,
                   bool settled = false);
void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit,
              ClusterSums& sums);
/// The same with centroids, and sums, that are on the device. `pass` says which rows are looked at;
/// `loose` is for any but every_row.
AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   const PlacedCentroids& centroids, Scores scores, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint& unit, bool settled, LooseRows::Pass pass,
                   LooseRows* loose);
void add_rows(const Context& ctx, const Rows& x, const PlacedCentroids& centroids,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit);

/// What chunks of rows leave for each column, chunks x columns: their sums; and with `moments` the largest
/// |x - shift| and the sum of (x - mean)^2.
Matrix<double> chunk_sums(const Context& ctx, const Rows& x);
struct ChunkSpread {
  Matrix<double> reach, squares;
};
ChunkSpread chunk_spread(const Context& ctx, const Rows& x, const ColumnMoments& moments);
/// As Rows::first_not_finite.
std::pair<index_t, index_t> first_not_finite(const Context& ctx, const Rows& x);

/// As the functions of these names (gemm/assign/unit_rows.hpp).
void unit_rows(const Context& ctx, const Rows& x, double* unit, std::span<double> scale);
index_t reset_labels(const Context& ctx, PerRow<std::int32_t> labels, PerRow<const index_t> rows);

/// To host memory.
void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances);
/// sum_i w_i ||x_i - c_label||^2 of each chunk.
std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights);
index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels);

}  // namespace ts::assign_device
