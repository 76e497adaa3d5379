// What specialises the kernels of seeding/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/assign/rows/arguments.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// How coordinates (x - shift) scale are made: in float64, or from float64 in float32, or in float32, which gives the
/// same, since the shift has 24 bits and scale is a power of two, for rows without scales and numbers far from the ends
/// of its range.
enum class Coordinates { wide, narrow, direct };

// Pointers to squared distances, candidates in their unit and what kernels leave of both are to float64 or float32.
struct SeedGatherArguments {
  RowsArgument x;
  int d;
  const index_t* numbers;  ///< null: all rows
  index_t count;
  const double* shift;  ///< null: rows as they are
  double scale;
  void* out;
  int ld;
};

/// seeding/kernels/seed_gather.cuh
struct SeedGatherPolicy {
  DType type = DType::float64;
  bool wide = false;  ///< distances are kept in float64, not float32

  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(SeedGatherPolicy, SeedGatherArguments, "assign/seeding/policy.hpp", type, wide);
};

/// A draw begins at this row, the first of a chunk, and passes `rest` in the running sum of w D^2.
struct DrawArgument {
  index_t first;
  double rest;
};
struct SeedDrawArguments {
  const void* squared;
  const double* weights;
  index_t count, chunk;
  const DrawArgument* draws;
  index_t* rows;
};

/// seeding/kernels/seed_draw.cuh
struct SeedDrawPolicy {
  bool wide = false;  ///< distances are kept in float64, not float32

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;
  static constexpr int shared_bytes = 8 * threads;  ///< static

  TS_POLICY(SeedDrawPolicy, SeedDrawArguments, "assign/seeding/policy.hpp", wide);
};

struct SeedKeepArguments {
  const void* squared;
  const double* weights;
  index_t count, first_row;
  double factor;
  word64 stream, key;
  unsigned* marks;
};

/// seeding/kernels/seed_keep.cuh
struct SeedKeepPolicy {
  bool wide = false;  ///< distances are kept in float64, not float32

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(SeedKeepPolicy, SeedKeepArguments, "assign/seeding/policy.hpp", wide);
};

/// Of seed_distances.cuh and seed_labelled.cuh.
struct SeedDistancesArguments {
  RowsArgument x;
  int d;
  const void* candidates;  ///< count x d, in float64; for seed_labelled.cuh in the type of distances
  const int* labels;       ///< of each row; for seed_labelled.cuh
  const double* shift;
  double scale;
  index_t chunk;
  void* squared;
  const double* weights;
  int* nearest;
  int first_number, count;
  double* totals;
};

/// seeding/kernels/seed_distances.cuh
struct SeedDistancesPolicy {
  DType type = DType::float64;
  Coordinates coordinates = Coordinates::wide;
  int candidates = 1;  ///< at a time
  bool lower = true;   ///< distances are lowered; or, for each candidate, the sum that it alone would leave

  static constexpr int threads = 256, columns = 16;
  [[nodiscard]] constexpr bool wide() const { return coordinates == Coordinates::wide; }
  [[nodiscard]] constexpr int results() const { return lower ? 1 : candidates; }
  /// More where few candidates leave loads to bind.
  [[nodiscard]] constexpr int blocks_at_once() const {
    return candidates == 1 ? 4 : candidates <= 4 ? 3 : candidates > 8 && wide() ? 1 : 2;
  }
  /// Static.
  [[nodiscard]] constexpr int shared_bytes() const {
    const int size = wide() ? 8 : 4;
    return threads * (columns * size + 16) + candidates * columns * size + results() * threads / 32 * 8;
  }

  TS_POLICY(SeedDistancesPolicy, SeedDistancesArguments, "assign/seeding/policy.hpp", type, coordinates, candidates,
            lower);
};

/// seeding/kernels/seed_labelled.cuh
struct SeedLabelledPolicy {
  DType type = DType::float64;
  Coordinates coordinates = Coordinates::wide;

  static constexpr int threads = 256, blocks_at_once = 4;
  static constexpr int shared_bytes = threads / 32 * 8;  ///< static
  [[nodiscard]] constexpr bool wide() const { return coordinates == Coordinates::wide; }

  TS_POLICY(SeedLabelledPolicy, SeedDistancesArguments, "assign/seeding/policy.hpp", type, coordinates);
};

struct SeedCountArguments {
  const int* numbers;
  index_t size;
  int count;
  word64* counts;
};

/// seeding/kernels/seed_count.cuh
struct SeedCountPolicy {
  bool shared = true;  ///< a block counts in shared memory first

  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(SeedCountPolicy, SeedCountArguments, "assign/seeding/policy.hpp", shared);
};

/// What seed_choose.cuh tells in the end: how many rows were chosen, and sum_i w_i D_i^2 with them.
struct ChoiceOutcome {
  index_t count;
  double left;
};
struct SeedChooseArguments {
  const void* rows;  ///< count x ld in the coordinates of the distances, filled up with zeros
  index_t count;
  int ld;
  const double* weights;
  void* squared;
  int trials;
  word64 stream, key, first_number;  ///< of the random ones, `trials` a choice
  int most;
  double enough;
  void* found;         ///< 2 x trials of the policy x count
  double* sums;        ///< 2 x trials x blocks, as many as one of these in shared memory, and behind them rows
  unsigned* arrivals;  ///< 0 at first
  index_t* chosen;
  ChoiceOutcome* outcome;
};

/// seeding/kernels/seed_choose.cuh
struct SeedChoosePolicy {
  bool wide = false;  ///< distances are kept in float64, not float32
  int trials = 8;     ///< places in its tables

  static constexpr DType type = DType::float64;
  static constexpr int threads = 512;
  /// Of a block among so many, with rows of so many bytes.
  [[nodiscard]] constexpr index_t dynamic_bytes(index_t blocks, index_t row_bytes) const {
    return trials * (blocks * 8 + row_bytes);
  }
  [[nodiscard]] constexpr int shared_bytes() const { return trials * 8 * (threads / 32 + 3); }  ///< static

  TS_POLICY(SeedChoosePolicy, SeedChooseArguments, "assign/seeding/policy.hpp", wide, trials);
};

}  // namespace ts::inline v0::cuda
