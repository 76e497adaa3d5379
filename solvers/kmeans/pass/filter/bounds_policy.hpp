// What specialises the kernels of bounds of tiles of rows (tile_bounds.hpp), and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/heads_policy.hpp"

namespace ts::inline v0::cuda {

/// How far each centroid has moved, times `scale`, since the pass before; what cannot be told is infinite, and once
/// more when it can be told again.
struct BoundsMovesArguments {
  const double* centroids;
  double* before;           ///< where they were; then where they are
  const float* half_norms;  ///< as assign_prepare.cuh leaves them
  double scale;
  int count, d;
  bool first;  ///< there is no pass before
  float* moves;
};

/// filter/kernels/bounds_moves.cuh, a warp a centroid
struct BoundsMovesPolicy {
  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(BoundsMovesPolicy, BoundsMovesArguments, "solvers/kmeans/pass/filter/bounds_policy.hpp");
};

struct BoundsUppersArguments {
  RowsArgument x;
  const unsigned* order;  ///< of rows
  const int* labels;
  const double* centroids;
  double scale;
  int d;
  float* uppers;  ///< of each position in the order
};

/// filter/kernels/bounds_uppers.cuh, a warp a row
struct BoundsUppersPolicy {
  DType type = DType::float32;

  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(BoundsUppersPolicy, BoundsUppersArguments, "solvers/kmeans/pass/filter/bounds_policy.hpp", type);
};

struct BoundsListsArguments {
  const unsigned* order;  ///< of rows: tiles are rows that follow one another in it
  const int* labels;
  const float* moves;
  index_t rows;
  int tile_rows, centroids, padded, stride;
  bool first;                       ///< there are no bounds, and all centroids are listed, or those in `given`
  const int *given, *given_counts;  ///< as `numbers`; null: none. Others are farther than the nearest one by more than
  float margin;                     ///< this
  float *nearest, *upper;  ///< of each position in the order: the distance to the nearest centroid in the pass before,
                           ///< at most; and now
  int* bounds;             ///< of each tile, `stride` apart, and centroid: ordered() (bounds_order.cuh)
  int *numbers, *counts;   ///< as HeadsListsArguments
  index_t* list;           ///< the order, as selections have it
  word64 *listed, *kept;
};

struct BoundsTurnsArguments {
  const int* counts;  ///< of each tile
  int tiles, blocks;
  int* turns;  ///< of tiles: their numbers
};

/// filter/kernels/bounds_turns.cuh, one block
struct BoundsTurnsPolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 1024;

  TS_POLICY(BoundsTurnsPolicy, BoundsTurnsArguments, "solvers/kmeans/pass/filter/bounds_policy.hpp");
};

/// filter/kernels/bounds_lists.cuh, a warp a tile
struct BoundsListsPolicy {
  static constexpr DType type = DType::float16;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(BoundsListsPolicy, BoundsListsArguments, "solvers/kmeans/pass/filter/bounds_policy.hpp");
};

}  // namespace ts::inline v0::cuda
