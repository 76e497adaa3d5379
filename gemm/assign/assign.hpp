// Assign: every row to its nearest centroid, with the centroid sums in the same pass over the rows.
// Rows, their labels and weights lie in one memory; on a device all of this runs there, in ctx.stream, and
// waits for its end. Labels, moments, sums and inertia have the bits that the host would give.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/gemm/assign/per_row.hpp"
#include "tallskinny/gemm/assign/row_bounds.hpp"
#include "tallskinny/gemm/assign/rows.hpp"
#include "tallskinny/gemm/assign/sums/cluster_sums.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts {

/// What one pass over the rows tells about their columns; all in float64, the same bits for any thread count.
struct ColumnMoments {
  std::vector<double> mean, variance;  ///< of each column, every row counting once; variance over n
  std::vector<double> shift;  ///< close to the mean; zero for sparse rows. Subtracted before products
  std::vector<double> reach;  ///< max |x_ij - shift_j| of each column
};
/// @throws Error(invalid_argument) naming row and column of the first NaN or infinity.
ColumnMoments column_moments(const Context& ctx, const Rows& x);

/// Rows of one unit of work: fixed, so that sums over chunks do not depend on the thread count.
inline constexpr index_t chunk_rows = 4096;

/// The same for rows that come in blocks, each but the last a multiple of chunk_rows long: two rounds over
/// all blocks in order. The bits are those of column_moments of all rows at once.
class MomentsOfBlocks {
 public:
  explicit MomentsOfBlocks(index_t cols);
  /// @throws Error(invalid_argument) naming row (counted from the first block on) and column.
  void first_round(const Context& ctx, const Rows& block);
  void second_round(const Context& ctx, const Rows& block);
  [[nodiscard]] ColumnMoments finish() &&;

 private:
  void between_rounds();

  ColumnMoments moments_;
  std::vector<index_t> stored_;  ///< entries of each column of sparse rows
  index_t rows_ = 0;
  bool finite_ = true, sparse_ = false, second_ = false;
};

/// In which precision the scores that pick candidates are computed. The labels are the same by the first
/// three: float64 costs twice as much as float32 and leaves fewer rows to decide a second time; int16 costs
/// half and leaves more, where rows are dense and the processor has such products (AVX-512 VNNI, AVX2), and
/// is float32 elsewhere. `fast`: float32, and its best score is taken at its word: no row is decided again,
/// and a label may be that of a centroid which is farther than another by what rounding explains. On a device
/// all but the last are one.
enum class Scores { int16, float32, float64, fast };

struct AssignStats {
  index_t changed = 0;   ///< rows whose label is not what it was
  index_t rescored = 0;  ///< rows whose best candidates were closer than the rounding bound of their scores,
                         ///< or, `settled` on a device, whose labels were not confirmed
  index_t skipped = 0;   ///< rows left alone because bounds prove their label

  AssignStats& operator+=(const AssignStats& other) noexcept {
    changed += other.changed, rescored += other.rescored, skipped += other.skipped;
    return *this;
  }
};

/// labels[i] = argmin_j ||x_i - c_j||, the lowest j among equals, decided as follows: scores
///   s_j = ||c_j - shift||^2 / 2 - (x_i - shift)^T (c_j - shift)
/// are computed in low precision with a bound on all their rounding errors; where the best two are closer
/// than that bound allows, all candidates are compared by direct differences, sum_l (x_il - c_jl)^2, in
/// float64, and those still closer than (d + 3) 2^-51 of their value in twofold float64, where less than
/// (d + 3) 2^-100 of them counts as equal (sparse rows: in long double). So no label is farther than another
/// centroid by more than that share of the squared distance (sparse rows: by (d + 3) 2^-63 of ||x||^2 +
/// ||c||^2).
///
/// With `sums` the rows whose label changed move from their old cluster's sum of w_i (x_i - shift) to the new
/// one's in the same pass, while they are in cache (label -1: from nowhere; rows of weight 0 never count);
/// the sums given must belong to the labels given. Bits do not depend on threads or instruction set. Nothing
/// of size n x k is stored. With `bounds` rows whose label they prove are not read. Bytes: n d s + 4 n;
/// flops: 2 n d k.
/// `settled`: most labels are expected to stay. On a device a pass then confirms labels, which takes less
/// than finding them, and finds those that it could not confirm; the results are the same.
/// @param centroids k x d, row-major or column-major, k >= 1.
/// @param labels n entries, in and out. @param weights n entries or none.
/// @throws Error(invalid_argument) for shapes that do not fit. x and centroids must be finite.
AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   HostView<const double> centroids, Scores scores, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums,
                   BoundsOfRows bounds = {}, bool settled = false);

/// Adds every row that weighs something to the sum of its cluster, or takes nothing into account where the
/// label is negative: what a pass of assign() that starts from labels -1 leaves.
void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit,
              ClusterSums& sums);

/// distances[i] = ||x_i - c_{labels[i]}||^2 by direct differences in float64 (sparse rows: accumulated in
/// long double over the entries). The same bits for any thread count and instruction set.
void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances);

/// sum_i w_i ||x_i - c_{labels[i]}||^2, the terms as above, added in a fixed tree.
/// `before`: of the blocks of rows before these (each a multiple of chunk_rows long), to which it is added.
double inertia(const Context& ctx, const Rows& x, HostView<const double> centroids,
               PerRow<const std::int32_t> labels, PerRow<const double> weights, double before = 0);

/// The float64 oracle: the number of rows for which some centroid is closer than that of their label by more
/// than rounding of direct differences explains, (d + 3) 2^-51 of the squared distance. Cost: 3 n d k flops.
index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels);

/// The n x k matrix of Euclidean distances ||x_i - c_j||, by direct differences.
void distances(const Context& ctx, const Rows& x, HostView<const double> centroids, HostView<double> out);

}  // namespace ts
