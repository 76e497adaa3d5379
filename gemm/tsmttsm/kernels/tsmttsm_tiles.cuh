// How the warps of a block share the product of tsmttsm.cuh, and the sums that each of them keeps.
#pragma once

#include "tallskinny/gemm/tsmttsm/kernels/inner.cuh"

constexpr int tile_rows = policy.tile_rows(), tile_columns = policy.tile_columns();  ///< of a warp's part
constexpr int tiles_left = policy.tiles_left, tiles_right = policy.tiles_right, tiles = policy.tiles();
/// Which of the needed tiles this one is.
__device__ __forceinline__ int tile_number(int l, int r) {
  if (!policy.gram) return l * policy.warps_right + r;
  int number = 0;
  for (int i = 0; i < l * policy.warps_right + r; ++i)
    number += policy.tile_needed(i / policy.warps_right, i % policy.warps_right);
  return number;
}
constexpr int consumers = policy.warps(), threads = policy.threads();
constexpr int fillers = policy.producers ? 32 * policy.producers : 32;  ///< threads
constexpr int steps = folded_chunk / 16 / policy.slices;                ///< of 16 rows, in a stage, for a slice
static_assert(steps * 16 * policy.slices == folded_chunk, "slices take whole steps");

constexpr int terms = policy.terms();                                    ///< real products for one of the tiles
constexpr int column_scalars = policy.three ? 2 : 1;                     ///< of a column of the product
constexpr int products = policy.products();                              ///< of a warp: 16 x 8 each
constexpr int term_values = products * 4, values = terms * term_values;  ///< of a lane
constexpr bool flushes = policy.flushes();
using Kept = Choose<flushes, double, Accumulator>::type;  ///< sums in shared memory
/// Neighbouring values of a lane. A warp has `units` of each lane there, those of all lanes side by side.
struct alignas(16) Unit {
  static constexpr int size = 16 / sizeof(Kept);
  Kept x[size];
};
constexpr int units = values / Unit::size;
constexpr int block_units = tiles * units * 32;  ///< of a block's product
static_assert(consumers * units * 32 * 16 == policy.kept_bytes());

/// Sums of one warp over its slice of rows.
struct Sums {
  AccumulatorTile c[terms][products];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < values; ++i) at(i) = 0;
  }
  /// Those beside block i of 16 columns on the left.
  __device__ __forceinline__ AccumulatorTile (&row(int term, int i))[tiles_right] {
    return *reinterpret_cast<AccumulatorTile(*)[tiles_right]>(c[term] + i * tiles_right);
  }
  __device__ __forceinline__ Accumulator& at(int i) { return c[i / term_values][i % term_values / 4][i % 4]; }
  /// To this lane's units.
  __device__ __forceinline__ void keep(Unit* kept) {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      Unit unit;
#pragma unroll
      for (int k = 0; k < Unit::size; ++k) unit.x[k] = at(u * Unit::size + k);
      kept[32 * u] = unit;
    }
  }
  /// Adds to this lane's units, and begins anew.
  __device__ __forceinline__ void flush(Unit* kept) {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      Unit unit = kept[32 * u];
#pragma unroll
      for (int k = 0; k < Unit::size; ++k) unit.x[k] += at(u * Unit::size + k), at(u * Unit::size + k) = 0;
      kept[32 * u] = unit;
    }
  }
};

/// The column of a folded row that block `block` of 8 columns has at `index`.
template <int Vector>
__device__ __forceinline__ int column_of(int block, int index) {
  return block / Vector * (8 * Vector) + index * Vector + block % Vector;
}
/// The block that has a column, and the column's index there.
template <int Vector>
__device__ __forceinline__ int block_of(int column) {
  return column / (8 * Vector) * Vector + column % Vector;
}
template <int Vector>
__device__ __forceinline__ int index_of(int column) {
  return column % (8 * Vector) / Vector;
}
/// The first column of the vector that lane group g loads; lanes beyond the width repeat the last vector.
template <class Side>
__device__ __forceinline__ int vector_column(int first, int g) {
  constexpr int last = (Side::folded - 1) / Side::vector * Side::vector;
  const int column = first + g * Side::vector;
  return column < last ? column : last;
}

/// The columns that this lane loads at once, of its four rows of a step.
template <class Side>
__device__ __forceinline__ void load(const unsigned char* from, Fragment (&x)[Side::vector]) {
  if constexpr (Side::by_columns)
    load_rows_of(from, x);
  else
    load_columns_of<Side::vector, Side::row_bytes>(from, x);
}
constexpr int left_vectors = 2 * tiles_left * column_scalars / Left::vector,
              right_vectors = tiles_right * column_scalars / Right::vector;

/// Re + sign Im
__device__ __forceinline__ DoubleFragment sum_of(const DoubleFragment& re, const DoubleFragment& im, double sign) {
  DoubleFragment sum;
#pragma unroll
  for (int u = 0; u < 4; ++u) sum.k[u] = madd(sign, im.k[u], re.k[u]);
  return sum;
}
