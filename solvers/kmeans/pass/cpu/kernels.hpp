// The assign kernels of one instruction set, as tables of functions.
#pragma once

#include <cstdint>
#include <limits>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/pruning.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"

namespace ts::inline v0::assign_cpu {

/// Scores by blocks of at most this many products, so that rounding grows with the block, not with d.
inline constexpr index_t block = 256;

/// Columns whose products of integers are summed as integers.
inline constexpr index_t integer_block = 256;

/// Transformation of rows into the numbers of a tile.
template <class S>
struct Packing {
  const double* shift = nullptr;  ///< d numbers, and a vector's length of any more
  double scale = 1;
  const S* direct_shift = nullptr;  ///< the same, where S holds them
  bool direct = false;              ///< computing in S loses nothing and cannot overflow
};

/// The margin within which scores decide nothing is constant + by_norm ||x||, and ||x||^2 is at most the
/// computed one times slack plus least.
template <class S>
struct ScoreMargin {
  S slack = 1, least = 0, constant = 0, by_norm = 0;
};

/// Moves of the centroids since the last pass, and half their distances from each other.
struct CentroidSteps {
  const float* moved = nullptr;     ///< k numbers
  const float* half_gap = nullptr;  ///< k numbers: half the distance to the nearest other centroid, or 0
  std::int32_t farthest = 0;        ///< the one that moved most
  float most_moved = 0, second_most_moved = 0;
};

/// Rows that will be read soon, with contiguous elements. They are prefetched during other work, a line at a time: all
/// together would stall it.
struct NextRows {
  const Rows& x;
  const index_t* rows = nullptr;
  index_t count = 0;
};

/// Centroids in groups of ScoreKernels::group, and of integers too: element j of centroid m of group g at
/// negated[(g * d + j) * group + m]; half_norms[g * group + m] = ||c||^2 / 2, infinite for the centroids that fill up
/// the last group.
template <class S>
struct GroupedCentroids {
  const S *negated, *half_norms;
  index_t groups;
};
/// Groups of centroids as pairs of 16-bit integers, whose products count times scales[g * group + m].
struct GroupedPairs {
  const std::int32_t* negated;
  const float *scales, *half_norms;
  index_t groups;
};
/// Element (j, m) at negated[j * padded + m]; padded is a multiple of ScoreKernels::lanes.
template <class S>
struct TransposedCentroids {
  const S *negated, *half_norms;
  index_t padded;
};
template <class S>
struct SparseRow {
  const S* values;
  const std::int32_t* columns;
  index_t entries;
};
/// The best and second-best score of each row, and the number of the best; the lowest number wins ties.
template <class S, class Index>
struct BestTwo {
  S *best, *second;
  Index* which;
};

/// The sums of one cluster (ClusterSums) that is not weightless: d limbs each, its exact_weight(), and the
/// share of each unit of weight, 1 / weight.
struct SumsOfCluster {
  const std::uint64_t *upper = nullptr, *lower = nullptr;
  const double *from_units = nullptr, *shift = nullptr;  ///< d numbers each
  index_t d = 0;
  double inverse = 1;  ///< 2^-bits
  double weight_hi = 1, weight_lo = 0, share_hi = 1, share_lo = 0;
};

/// Kernels for scores of type S (float, double). A tile holds `rows` rows side by side: element j of row r at
/// tile[j * rows + r].
template <class S, class Index>
struct ScoreKernels {
  index_t rows = 0, group = 0;
  /// For the rows of a tile.
  void (*best_two)(const S* tile, index_t d, const GroupedCentroids<S>& centroids, const NextRows& next,
                   const BestTwo<S, Index>& out) = nullptr;
  /// rows[g * group + m], for each centroid: the rows r of a tile, as bits 2^r, whose scores are below limits[r].
  void (*below)(const S* tile, index_t d, const GroupedCentroids<S>& centroids, const NextRows& next, const S* limits,
                std::uint64_t* rows) = nullptr;
  /// The best two of one sparse row; `scores` is scratch memory for `padded` numbers.
  void (*best_two_sparse)(const SparseRow<S>& row, const TransposedCentroids<S>& centroids, S* scores,
                          const BestTwo<S, Index>& out) = nullptr;
  index_t lanes = 0;
  /// tile[j * this->rows + r] = (x_{rows[r] j} - shift_j) scale for this->rows row numbers, and squared norms
  /// of the tile's rows, rounded in S; `row` is scratch memory for d numbers.
  void (*pack)(const Rows& x, const index_t* rows, const Packing<S>& packing, double* row, S* tile,
               S* squared_norms) = nullptr;
  /// For each row of a tile: which[r] becomes -1 unless second - best is larger than the margin, of which
  /// by_centroid[which[r]] is a part unless that is null; and, unless `upper` is null, bounds in float32 of
  /// the row's distances to the best centroid and to all others.
  void (*decide)(const S* best, const S* second, const S* squared_norms, const ScoreMargin<S>& margin,
                 const S* by_centroid, Index* which, float* upper, float* lower) = nullptr;
  /// scores[j] = half_norms[j] + x^T (-c_j) for a row-major k x d block of negated centroids.
  void (*row_scores)(const S* x, index_t d, const S* centroids, const S* half_norms, index_t k, S* scores) = nullptr;
};

/// Kernels for scores of 16-bit integers; none where a processor has no fast products of these. Tiles and
/// groups of centroids are those of ScoreKernels<float>, with the elements 2i and 2i + 1 in the lower and
/// upper half of number i.
struct IntegerKernels {
  /// Packs as ScoreKernels::pack does, with the integers nearest to those numbers times `scale`, which are less than
  /// 2^15. Squared norms are those of the integers, times scale^-2. `tile` is scratch memory for such a tile.
  void (*pack)(const Rows& x, const index_t* rows, const Packing<float>& packing, float scale, double* row, float* tile,
               std::int32_t* pairs, float* squared_norms) = nullptr;
  /// Finds the two best scores; products of integer_block columns are added up modulo 2^32.
  void (*best_two)(const std::int32_t* tile, index_t pairs, const GroupedPairs& centroids, const NextRows& next,
                   const BestTwo<float, std::int32_t>& out) = nullptr;
  /// Finds scores below limits, like ScoreKernels::below.
  void (*below)(const std::int32_t* tile, index_t pairs, const GroupedPairs& centroids, const NextRows& next,
                const float* limits, std::uint64_t* rows) = nullptr;
};

/// Some rows by their numbers, with their weights in the unit of sums; rows that are taken away weigh less than 0.
struct RowsToAdd {
  const Rows& x;
  const index_t* rows;
  const double* weights;
  index_t count;
};

/// A row of some weight that goes from one cluster to another; from -1: from nowhere.
struct MovedRow {
  index_t row;
  double weight;
  std::int32_t from, to;
};
struct RowsToMove {
  const Rows& x;
  const MovedRow* rows;
  index_t count;
  double weight_to_units;  ///< of FixedPoint
};
/// Centroids of rows by their labels: centroid m at centroids[m d].
struct OwnCentroids {
  const std::int32_t* labels;
  const double *centroids, *shift;
  double scale;
};

/// Products of integers.
struct ByteKernels {
  IntegerKernels int16;
  PruningKernels pruning;
};

struct AssignKernels : ByteKernels {
  const char* name = nullptr;  ///< of the instructions
  ScoreKernels<float, std::int32_t> float32;
  ScoreKernels<double, std::int64_t> float64;
  /// row[j] = x_ij - shift_j, rounded once (twice with a row scale).
  void (*centred)(const Rows& x, index_t i, const double* shift, double* row) = nullptr;
  /// The columns of ClusterSums::add for some rows, less the shift; one = 2^bits.
  void (*accumulate)(const RowsToAdd& rows, const double* shift, const double* to_units, double one,
                     std::uint64_t* upper, std::uint64_t* lower) = nullptr;
  /// Moves rows between clusters, whose columns begin at upper[m d] and lower[m d], as accumulate() adds them.
  void (*move)(const RowsToMove& rows, const double* shift, const double* to_units, double one, std::uint64_t* upper,
               std::uint64_t* lower) = nullptr;
  /// Moves the bounds of `count` rows along with the centroids. Writes the rows whose label they do not prove to
  /// `undecided`, which has room for count + 1, and returns their number.
  index_t (*screen)(const CentroidSteps& steps, const std::int32_t* labels, index_t count, float* upper, float* lower,
                    index_t* undecided) = nullptr;
  /// ||a - b||^2 in eight partial sums, as squared_distance() in assign_detail.hpp adds them: the same bits
  /// everywhere.
  double (*squared_distance)(const double* a, const double* b, index_t d) = nullptr;
  /// out[q] = ||(x_i - shift) scale - c||^2 of the row i = rows[q] and the centroid c of its label, labels[i], as
  /// squared_distance; `room` is for d numbers.
  void (*own_squared_distances)(const Rows& x, const index_t* rows, index_t count, const OwnCentroids& of,
                                double* scratch, double* out) = nullptr;
  // For `count` rows from row `first` on, one after the other:
  /// sum[j] += x_ij.
  void (*add)(const Rows& x, index_t first, index_t count, double* sum) = nullptr;
  /// max_abs[j] = max(max_abs[j], |x_ij - shift[j]|), squares[j] += (x_ij - mean[j])^2.
  void (*spread)(const Rows& x, index_t first, index_t count, const double* shift, const double* mean, double* max_abs,
                 double* squares) = nullptr;
  // The following have the same bits on all processors and on GPUs (sums/kernels/assign_means.cuh).
  /// mean[j] = ClusterSums::mean() of column j with its shift.
  void (*means)(const SumsOfCluster& sums, double* mean) = nullptr;
  /// ||a - b||^2, in partial sums of the columns that are equal modulo 32.
  double (*squared_step)(const double* a, const double* b, index_t d) = nullptr;
  /// W ||c - shift||^2 - 2 (c - shift) S, W and S the cluster's weight and sum, both times
  /// unit.weight_to_units, as the two parts of a Twofold; in such partial sums, too.
  void (*inertia_term)(const SumsOfCluster& sums, const double* centroid, double* hi_lo) = nullptr;
};

namespace base {
extern const AssignKernels kernels;
}
#if defined(TS_X86_KERNELS)
namespace avx2 {
extern const AssignKernels kernels;
}
namespace avx512 {
extern const AssignKernels kernels;
}
// Their kernels for floating point are those of avx512, and the 16-bit integers of amx those of avx512vnni.
namespace avx512vnni {
extern const ByteKernels bytes;
}
namespace amx {
extern const ByteKernels bytes;
}
#endif

/// @throws Error(invalid_argument) when the processor lacks the instructions asked for.
const AssignKernels& select(Simd simd);

template <class S>
const auto& score_kernels(const AssignKernels& k) {
  if constexpr (sizeof(S) == sizeof(float))
    return k.float32;
  else
    return k.float64;
}

}  // namespace ts::inline v0::assign_cpu
