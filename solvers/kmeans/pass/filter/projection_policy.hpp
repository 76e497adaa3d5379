// Policies and arguments of the kernels that list candidate centroids, by the projections of rows or by bounds of tiles
// of rows.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::cuda {

/// Centroids of a chunk; rows whose signs are put together; columns of the step that holds limits.
inline constexpr int projection_chunk = 128, projection_rows = 16, limit_columns = 16;

/// Norms of a row, shifted and scaled, rounded up: of its stored projection, of the rounding of the projection, and of
/// the part orthogonal to the axes, all three times `per`; and of the whole row.
struct alignas(16) ProjectionNorms {
  float projection, rounding, residual, all;
  float per;  ///< a number of float16, at least 1; of projections in float16 it is 1
};
/// (Float16, which holds all numbers of the last step.) `per` is at most 127 over the largest coordinate, and 2^14,
/// 2^14 over the norm, 2^15 over its square.
inline constexpr float most_int8 = 127, most_per = 16384, most_norm = 16384, most_squared = 32768;

/// Division of the projections of a tile of rows among the warps of a block; axes are padded to `columns`.
struct ProjectionRowsShape {
  int columns = 64;

  static constexpr int warps = 8, stage_columns = 64;  ///< stage_columns: of rows
  [[nodiscard]] constexpr int column_warps() const noexcept { return columns <= 64 ? 1 : columns <= 256 ? 2 : 4; }
  [[nodiscard]] constexpr int rows() const noexcept { return columns <= 256 ? 128 : 64; }
  /// For m axes.
  [[nodiscard]] static constexpr ProjectionRowsShape of(index_t m) noexcept {
    const auto of_warps = static_cast<int>(m <= 64 ? 16 : m <= 256 ? 32 : 64);
    return {(static_cast<int>(m) + of_warps - 1) / of_warps * of_warps};
  }
};

struct ProjectionAxesArguments {
  const double* axes;  ///< d x m
  int d, m;
  double *rounded, *again;  ///< the same as they are taken, twice
  void* stages;             ///< as projection_rows.cuh takes them
};

/// filter/kernels/projection_axes.cuh, a thread a number of the stages
struct ProjectionAxesPolicy {
  int columns = 64;

  static constexpr DType type = DType::float16;
  static constexpr int threads = 256, stage_columns = ProjectionRowsShape::stage_columns;
  [[nodiscard]] constexpr int column_warps() const noexcept { return ProjectionRowsShape{columns}.column_warps(); }

  TS_POLICY(ProjectionAxesPolicy, ProjectionAxesArguments, "solvers/kmeans/pass/filter/projection_policy.hpp", columns);
};

struct AxesFactorArguments {
  double* gram;  ///< m x m; becomes R^-1, with zeros below
  int m;
  double dead;          ///< of what a diagonal element was, below which columns depend on each other
  double* independent;  ///< 1, or 0 where they do
};

/// filter/kernels/axes_factor.cuh, one block
struct AxesFactorPolicy {
  int columns = 64;  ///< at least m

  static constexpr DType type = DType::float64;
  static constexpr int threads = 1024;
  /// The upper triangle, and the diagonal before factorisation.
  [[nodiscard]] constexpr int shared_bytes() const noexcept { return 4 * columns * (columns + 1) + 8 * columns; }

  TS_POLICY(AxesFactorPolicy, AxesFactorArguments, "solvers/kmeans/pass/filter/projection_policy.hpp", columns);
};

struct ProjectionRowsArguments {
  RowsArgument x;
  const void* axes;     ///< stages of projection_axes.cuh
  const double* shift;  ///< of each of d columns
  double scale;
  float by_norm, constant;  ///< the error of a projection before it is rounded: by_norm ||v|| + constant
  float held;               ///< of the square of Q^T v as much, at least, lies along the axes
  int d, m;
  void* projections;  ///< rows x m
  ProjectionNorms* norms;
};

/// filter/kernels/projection_rows.cuh, a block a tile of rows
struct ProjectionRowsPolicy {
  DType type = DType::float32;
  ProjectionNumbers numbers = ProjectionNumbers::float16;
  int columns = 64;   ///< axes, padded
  int vector = 1;     ///< elements of one load
  int alignment = 4;  ///< of it

  static constexpr int threads = 32 * ProjectionRowsShape::warps, stages = 3,
                       stage_columns = ProjectionRowsShape::stage_columns;
  [[nodiscard]] constexpr int column_warps() const noexcept { return ProjectionRowsShape{columns}.column_warps(); }
  [[nodiscard]] constexpr int rows() const noexcept { return ProjectionRowsShape{columns}.rows(); }
  [[nodiscard]] constexpr int blocks_at_once() const noexcept { return columns < 64 && type == DType::float16 ? 2 : 1; }
  [[nodiscard]] constexpr int stage_bytes() const noexcept { return 2 * stage_columns * (rows() + columns); }
  [[nodiscard]] constexpr int shared_bytes(int d) const noexcept {
    return stages * stage_bytes() +
           4 * (rows() * (1 + column_warps()) + (d + stage_columns - 1) / stage_columns * stage_columns);
  }

  TS_POLICY(ProjectionRowsPolicy, ProjectionRowsArguments, "solvers/kmeans/pass/filter/projection_policy.hpp", type,
            numbers, columns, vector, alignment);
};

struct ProjectionCentroidsArguments {
  const double *centroids, *turned;   ///< k x d; k x m: by the axes
  const double *shift, *moved_shift;  ///< of d columns; shift by the axes
  const float *half_norms, *origins;  ///< of `padded` centroids, as assign_prepare.cuh leaves them
  double scale, held,
      off;  ///< of squares of projections as much lies along axes; a projection is off by `off` norms, at most
  int count, d, m, steps, padded;  ///< steps: of 16 columns of a row in `by_rows`
  float beyond;                    ///< the origin of what must not be listed
  void* by_rows;                   ///< -c in float16, count + 1 rows, of which the last are zeros
  float* own_origins;              ///< count + 1
  void* chunks;                    ///< -h and the columns of limits, which are in float16, chunk by chunk
};

/// filter/kernels/projection_centroids.cuh, a warp a centroid
struct ProjectionCentroidsPolicy {
  ProjectionNumbers numbers = ProjectionNumbers::float16;

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(ProjectionCentroidsPolicy, ProjectionCentroidsArguments, "solvers/kmeans/pass/filter/projection_policy.hpp",
            numbers);
};

struct ProjectionLimitsArguments {
  RowsArgument x;
  const unsigned* order;  ///< of rows, those of a cluster together
  const int* labels;
  const void* by_rows;
  const float* half_norms;
  const Largest* largest;
  const double* shift;
  double scale;
  const ProjectionNorms* norms;
  float margin;   ///< centroids that are farther than the own one by no more than this are left, too; 0: none of them
  void* limits;   ///< in this order, limit_columns in float16
  index_t* list;  ///< the order, as selections have it
  word64* listed;
};

/// filter/kernels/projection_limits.cuh, a warp 32 rows
struct ProjectionLimitsPolicy {
  DType type = DType::float32;
  int d = 1;            ///< columns
  int steps = 1;        ///< of 16 columns of a row in `by_rows`
  int float_steps = 1;  ///< instructions that add float16 products for a sign
  int vector = 1;       ///< elements of one load
  int alignment = 4;    ///< of it

  static constexpr int threads = 256, blocks_at_once = 4;
  static constexpr bool wide = false, margin = false;
  static constexpr int parts = 1;

  TS_POLICY(ProjectionLimitsPolicy, ProjectionLimitsArguments, "solvers/kmeans/pass/filter/projection_policy.hpp", type,
            d, steps, float_steps, vector, alignment);
};

struct ProjectionTilesArguments {
  const void *projections, *limits, *chunks;
  const unsigned* order;  ///< null: as they are
  index_t count;
  int chunk_count;
  unsigned* signs;  ///< of projection_rows rows and a chunk: four words; of each row: chunks x 4 x rows
};

/// filter/kernels/projection_tiles.cuh (sm_90a)
struct ProjectionTilesPolicy {
  int steps = 4;          ///< of 32 bytes: of projections, and one of limits; whole stages
  int stage_steps = 4;    ///< of a stage
  int groups = 3;         ///< warpgroups that multiply
  int stages = 3;         ///< of the ring
  bool each_row = false;  ///< a sign for each row; or for projection_rows of them
  ProjectionNumbers numbers = ProjectionNumbers::float16;

  static constexpr DType type = DType::float16;
  static constexpr int blocks_at_once = 1, group_rows = 64, step_bytes = 32, most_stages = 8;
  [[nodiscard]] constexpr int stage_bytes() const { return stage_steps * step_bytes * projection_chunk; }
  [[nodiscard]] constexpr int threads() const { return 128 * groups + 32; }
  [[nodiscard]] constexpr int left_bytes() const { return steps * step_bytes * group_rows; }
  [[nodiscard]] constexpr int left_at() const { return stages * stage_bytes(); }
  [[nodiscard]] constexpr int barriers_at() const { return left_at() + groups * left_bytes(); }
  [[nodiscard]] constexpr int shared_bytes() const { return barriers_at() + 16 * most_stages; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / 8 * 8; }

  TS_POLICY(ProjectionTilesPolicy, ProjectionTilesArguments, "solvers/kmeans/pass/filter/projection_policy.hpp", steps,
            stage_steps, groups, stages, each_row, numbers);
};

struct ProjectionListsArguments {
  const unsigned* signs;
  index_t parts;  ///< of projection_rows rows, of all tiles
  int chunk_count, tile_parts, centroids, stride;
  int *numbers, *counts;  ///< of each tile, `stride` apart: centroids that may be nearest; chunks of them
  word64* kept;           ///< of all tiles, centroids times rows
};

/// filter/kernels/projection_lists.cuh, a warp a tile
struct ProjectionListsPolicy {
  static constexpr DType type = DType::float16;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(ProjectionListsPolicy, ProjectionListsArguments, "solvers/kmeans/pass/filter/projection_policy.hpp");
};

/// Computes the move of each centroid, times `scale`, since the pass before. It is infinite where it is unknown, and in
/// the first pass where it is known again.
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

  TS_POLICY(BoundsMovesPolicy, BoundsMovesArguments, "solvers/kmeans/pass/filter/projection_policy.hpp");
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

  TS_POLICY(BoundsUppersPolicy, BoundsUppersArguments, "solvers/kmeans/pass/filter/projection_policy.hpp", type);
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
  int *numbers, *counts;   ///< as ProjectionListsArguments
  index_t* list;           ///< the order, as selections have it
  word64 *listed, *kept;
};

struct BoundsScheduleArguments {
  const int* counts;  ///< of each tile
  int tiles, blocks;
  int* schedule;  ///< of tiles: their numbers
};

/// filter/kernels/bounds_schedule.cuh, one block
struct BoundsSchedulePolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 1024;

  TS_POLICY(BoundsSchedulePolicy, BoundsScheduleArguments, "solvers/kmeans/pass/filter/projection_policy.hpp");
};

/// filter/kernels/bounds_lists.cuh, a warp a tile
struct BoundsListsPolicy {
  static constexpr DType type = DType::float16;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(BoundsListsPolicy, BoundsListsArguments, "solvers/kmeans/pass/filter/projection_policy.hpp");
};

}  // namespace ts::inline v0::cuda
