// Assigns every row to its nearest centroid, with the centroid sums in the same pass over the rows.
#pragma once

#include <string_view>

#include "tallskinny/solvers/kmeans/pass/filter/filter.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/group_bounds.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/row_bounds.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0 {

/// Precision of the scores that select candidates. Labels are the same with the first four. float64 costs twice as much
/// as float32 and leaves fewer rows to decide a second time. int16 costs half and leaves more, where rows are dense and
/// the processor has such products (AVX-512 VNNI, AVX2), and is float32 elsewhere. int8 costs half of that for 192
/// columns and more, and is int16 where a trial on some rows shows that it leaves too much. `fast`: float32, whose best
/// score decides: no row is decided again, and a centroid may be farther than the nearest one by the rounding of
/// scores. On a device all but the last are one.
enum class Scores { int8, int16, float32, float64, fast };
inline constexpr index_t least_columns_of_int8 = 192;

struct AssignStats {
  index_t changed = 0;   ///< rows whose label is not what it was
  index_t rescored = 0;  ///< rows whose best candidates were closer than the rounding bound of their scores,
                         ///< or, `stable` on a device, whose labels were not confirmed
  index_t skipped = 0;   ///< rows left alone because bounds prove their label
  index_t coarse = 0;    ///< pairs of a row and a centroid that a pass with GroupBounds scored in 8 bits
  index_t scored = 0;    ///< of these, in float32; on a device, those in lists

  PassFilter filter = PassFilter::none;  ///< that was used
  std::string_view scorer = {};          ///< what scored most rows: numbers on a processor, a kernel on a device

  AssignStats& operator+=(const AssignStats& other) noexcept {
    changed += other.changed, rescored += other.rescored, skipped += other.skipped;
    coarse += other.coarse, scored += other.scored;
    filter = other.filter, scorer = other.scorer;
    return *this;
  }
};

/// Arguments of assign(). Rows, labels and weights lie in one memory.
struct AssignArguments {
  const Rows& x;                     ///< n x d, finite
  const ColumnMoments& moments;      ///< of these rows, or of all rows of which these are some
  HostView<const double> centroids;  ///< k x d, row-major or column-major, finite; k >= 1
  Scores scores = Scores::float32;
  PerRow<std::int32_t> labels = {};     ///< n entries, in and out
  PerRow<const double> weights = {};    ///< n entries or none
  const FixedPoint* unit = nullptr;     ///< of the sums
  ClusterSums* sums = nullptr;          ///< k x d, or none
  BoundsOfRows bounds = {};             ///< of rows in host memory, or none
  bool stable = false;                  ///< most labels are expected to stay
  GroupBoundsOfRows group_bounds = {};  ///< of dense rows in host memory, or none; then without bounds

  /// Rows whose scores are too close are decided again.
  [[nodiscard]] bool proven() const noexcept { return scores != Scores::fast; }
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
/// Dense rows of one column in host memory, without bounds, get their labels from a search among the boundaries between
/// centroids; they are the same, also for Scores::fast. Flops: n log2 k.
/// `stable` on a device: a pass then confirms labels, which takes less
/// than finding them, and finds those that it could not confirm; the results are the same.
/// @throws Error(invalid_argument) for shapes that do not fit. x and centroids must be finite.
AssignStats assign(const Context& ctx, const AssignArguments& of);

/// The instructions that assign() takes on a processor: base, avx2, avx512, avx512vnni or amx.
/// @throws Error(invalid_argument) as Context::simd says
[[nodiscard]] std::string_view assign_instructions(const Context& ctx);

}  // namespace ts::inline v0
