// Kernels for products of 8-bit integers, with which passes leave most products out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"

namespace ts::inline v0::assign_cpu {

template <class S>
struct Packing;

/// Sizes: centroids of a group, scored together, and rows whose bounds lie side by side (filter/group_bounds.hpp).
inline constexpr int group_centroids = 32, piece_size = 64;
inline constexpr float no_bound = std::numeric_limits<float>::infinity();

/// A row x as bytes q: x factor = q but for rounding.
struct QuantizedRow {
  float factor;         ///< 0 for a row of zeros
  std::int32_t sum;     ///< of q
  float squares, lost;  ///< ||q||^2, ||x factor - q||^2
};
/// A group of group_centroids centroids: byte j of centroid m, plus PruningKernels::offset, is at quads[(j / 4 *
/// group_centroids + m) * 4 + j % 4].
struct CentroidGroup {
  const std::uint8_t* quads;
  const float *half_norms, *scale, *radius;
  std::int32_t first;  ///< number of its first centroid
};
/// A batch of PruningKernels::rows rows, of which the first `count` are used. The score of row r and centroid m differs
/// from
///   half_norms[m] + scale[r] scale[m] (start[r] + sum of products of bytes)
/// by radius[r] radius[m] at most. Centroids whose least score is at most limit[r] survive: their numbers are appended
/// at end[r], where two groups must fit. least[r]: the least score of the others.
struct BatchOfRows {
  const std::int8_t* const* quantized;
  const std::int32_t* start;
  const float *scale, *radius, *floor;
  const std::int32_t* place;  ///< of the row in its piece
  float* limit;
  std::int32_t** end;
  float* least;
  std::ptrdiff_t to_lower = 0;  ///< `nearest` alone: from the place of a number to that of its least score
  int count = 0;
};
/// Costs of work in 8 bits, in products of two 16-bit integers.
struct ProductCosts {
  double column = 0.5;          ///< a product of a row and a centroid of a group
  double per_pair = 0;          ///< what comes after those of a pair, in all columns
  double per_coarse_pair = 25;  ///< the same in groups, where more survive
  double least_skipped = 0.4;   ///< share of the rows that bounds must leave alone, since passes with them have 16 bits
  index_t least_changed = 20;   ///< they are tried once one label of so many changes
};
/// Functions of one instruction set; null where a processor has no fast products of bytes (AMX, AVX-512 VNNI, AVX2).
/// `columns` are multiples of byte_columns.
struct PruningKernels {
  int rows = 0, offset = 0;
  /// Called before and after a thread's calls for groups of centroids (UseTiles); null where nothing has to be
  /// prepared.
  void (*take_tiles)() = nullptr;
  void (*give_tiles)() = nullptr;
  void (*quantize_row)(const float* x, index_t columns, std::int8_t* quantized, QuantizedRow& out) = nullptr;
  void (*survivors)(const CentroidGroup& c, const BatchOfRows& rows, index_t columns) = nullptr;
  /// Lists survivors after lowering limit[r] to floor[r] plus the greatest possible score of the nearest centroid in
  /// the group. Lists have least scores beside numbers, and least[r] is not set.
  void (*nearest)(const CentroidGroup& c, const BatchOfRows& rows, index_t columns) = nullptr;
  /// Lowers bounds, in float16, by `moved`, for a piece of piece_size rows. Bit r of the result: bounds[r] <= upper[r].
  std::uint64_t (*move_bounds)(std::uint16_t* bounds, float moved, const float* upper) = nullptr;
  /// bounds[place[r]] = sqrt(floor[r] + 2 least[r]), rounded towards 0, for the first `count` rows of a batch.
  void (*put_bounds)(const BatchOfRows& rows, int count, std::uint16_t* bounds) = nullptr;
  /// sum_j x_j c_j; `columns` are a multiple of 64.
  std::int32_t (*product)(const std::int8_t* x, const std::uint8_t* c, index_t columns) = nullptr;
  /// scores[q] = half_norms[m] + x^T (-c_m) for the numbers m of a list, as ScoreKernels::row_scores.
  void (*listed_scores)(const float* x, index_t d, const float* centroids, const float* half_norms,
                        const std::int32_t* list, index_t count, float* scores) = nullptr;
  /// out[j] = (x_ij - shift_j) scale; `row` is scratch memory for d numbers.
  void (*scaled_row)(const Rows& x, index_t i, const Packing<float>& packing, double* row, float* out) = nullptr;
  double (*square)(const float* x, index_t d) = nullptr;  ///< of the norm
  ProductCosts costs = {};
};
inline constexpr index_t byte_columns = 16, most_batch_rows = 32;
/// Bytes behind the quads of the last group that kernels may read; products with them are not used.
inline constexpr index_t beyond_quads = 64 * group_centroids;

/// During its lifetime, its thread may call kernels for groups of centroids.
class UseTiles {
 public:
  explicit UseTiles(const PruningKernels& kernels) : kernels_(kernels) {
    if (kernels_.take_tiles != nullptr) kernels_.take_tiles();
  }
  ~UseTiles() {
    if (kernels_.give_tiles != nullptr) kernels_.give_tiles();
  }
  UseTiles(const UseTiles&) = delete;
  UseTiles& operator=(const UseTiles&) = delete;

 private:
  const PruningKernels& kernels_;
};

}  // namespace ts::inline v0::assign_cpu
