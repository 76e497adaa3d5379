// Policies that specialise the kernels of seeding/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/arguments.hpp"

namespace ts::inline v0::cuda {

struct SeedGatherArguments {
  RowsArgument x;
  int d;
  const index_t* numbers;  ///< null: all rows
  index_t count;
  const double* shift;  ///< null: rows as they are
  double scale;
  void* out;  ///< count x d in float64 or float32
};

/// seeding/kernels/seed_gather.cuh
struct SeedGatherPolicy {
  DType type = DType::float64;
  bool wide = false;  ///< results are float64, not float32

  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(SeedGatherPolicy, SeedGatherArguments, "solvers/kmeans/seeding/policy.hpp", type, wide);
};

struct SeedKeepArguments {
  const double *squared, *weights;  ///< of each row; null: 1
  index_t count, first_row;
  double factor;
  word64 stream, key;
  unsigned* marks;
};

/// seeding/kernels/seed_keep.cuh
struct SeedKeepPolicy {
  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(SeedKeepPolicy, SeedKeepArguments, "solvers/kmeans/seeding/policy.hpp");
};

/// Norms of a row v = (x - shift) scale: squared, of v in float16, and of what this rounding leaves; the latter two
/// rounded up.
struct alignas(16) SeedNorms {
  double squared;
  float rounded, residual;
};
/// A row that a candidate may be nearer to, and its squared distance.
struct SeedPair {
  int row, candidate;
  double squared;
};
/// Range of the pairs of a candidate, and the decrease of sum_i w_i D_i^2 with it, in a unit.
struct SeedStretch {
  index_t begin, count;
  long long most_gain;
};
/// sum_i w_i D_i^2 in a unit, before choices and after them, and how many there were; -1: of too many pairs none.
struct SeedOutcome {
  long long before, left;
  double unit;
  int choices;
};

/// A batch of draws (choose.hpp), which all of its kernels see.
struct SeedBatchArguments {
  RowsArgument x;  ///< less than 2^31
  int d, columns;  ///< columns: of halves, 16 or a multiple
  const double* shift;
  double scale;
  // For each row:
  void* halves;           ///< in float16, filled up with zeros; or null
  SeedNorms* norms;       ///< or null
  void* limits;           ///< limit_columns in float16
  double* squared;        ///< D^2
  const double* weights;  ///< null: 1
  long long* through;     ///< w D^2 up to it
  unsigned* marks;        ///< 0 before choices
  // For all rows:
  unsigned* largest;   ///< bits of the largest norm, rounded up; 0 at first
  unsigned* arrivals;  ///< 0 before draws
  long long* sums;     ///< two of each block
  // For each draw:
  int draws, padded;  ///< padded: to whole chunks of candidates
  word64 stream, key, first_number;
  index_t* numbers;  ///< the row
  double* least;     ///< D^2 at which it is taken no longer
  void* chunks;      ///< as projection_tiles.cuh takes them
  unsigned* signs;   ///< chunks x 4 x rows
  SeedStretch* stretches;
  // Pairs of a draw and a row:
  word64* total;       ///< how many there would be
  index_t most_pairs;  ///< for which there is room
  SeedPair* pairs;
  // Choices:
  int trials, most;  ///< draws of each, and choices
  double enough;
  SeedOutcome* outcome;
  index_t* seeds;
};

/// seeding/kernels/seed_halves.cuh, seed_ahead.cuh, seed_tiles.cuh, seed_pairs.cuh, seed_measure.cuh, seed_rounds.cuh
struct SeedBatchPolicy {
  DType type = DType::float32;

  static constexpr int threads = 512, warps = threads / 32, blocks_at_once = 2;
  static constexpr int most_blocks = 256, most_trials = 16;
  static constexpr int tile_threads = 256, tile_rows = tile_threads, tile_steps = 4;  ///< of seed_tiles.cuh
  // Static, and of each draw of seed_rounds.cuh dynamic.
  static constexpr int ahead_bytes = warps * 16 + most_blocks * 8, pairs_bytes = warps * 33 * 4 + 8,
                       rounds_bytes = warps * (32 + 4 * most_trials) + 16, bytes_of_draw = 32,
                       tile_bytes = 2 * projection_chunk * tile_steps * 32;

  TS_POLICY(SeedBatchPolicy, SeedBatchArguments, "solvers/kmeans/seeding/policy.hpp", type);
};

}  // namespace ts::inline v0::cuda
