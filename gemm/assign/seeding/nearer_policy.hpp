// What specialises the kernels that find the rows that candidates are nearer to, and their arguments.
#pragma once

#include "tallskinny/gemm/assign/scores/heads_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// Of a row in the coordinates of distances: its squared norm; norms, rounded up, of it in float16 and of what rounding
/// leaves.
struct alignas(16) SeedNorms {
  double squared;
  float head, rest;
};

struct SeedHeadsArguments {
  const float* rows;  ///< count x ld in the coordinates of distances, filled up with zeros
  index_t count;
  int ld, d, m;
  void* heads;  ///< count x m in float16, filled up with zeros
  SeedNorms* norms;
  unsigned* largest;  ///< bits of the largest norm, rounded up; 0 at first
};

/// seeding/kernels/seed_heads.cuh, a warp a row
struct SeedHeadsPolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(SeedHeadsPolicy, SeedHeadsArguments, "assign/seeding/nearer_policy.hpp");
};

struct SeedLimitsArguments {
  const SeedNorms* norms;
  const float* squared;
  index_t count;
  int d, steps;  ///< steps: of 16 columns, of heads and limits
  const unsigned* largest;
  void* limits;  ///< count x limit_columns in float16
};

/// seeding/kernels/seed_limits.cuh, a thread a row
struct SeedLimitsPolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(SeedLimitsPolicy, SeedLimitsArguments, "assign/seeding/nearer_policy.hpp");
};

struct SeedCandidatesArguments {
  const void* heads;
  const SeedNorms* norms;
  const index_t* numbers;  ///< of the rows that are candidates
  int count, padded, m;    ///< padded: to whole chunks
  void* chunks;            ///< as heads_tiles.cuh takes them
};

/// seeding/kernels/seed_candidates.cuh, a warp a candidate
struct SeedCandidatesPolicy {
  static constexpr DType type = DType::float16;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(SeedCandidatesPolicy, SeedCandidatesArguments, "assign/seeding/nearer_policy.hpp");
};

/// A row that a candidate may be nearer to; then its squared distance takes the candidate's place.
struct SeedPair {
  int row;
  union {
    int candidate;
    float squared;
  };
};
/// Where the pairs of a candidate lie, and what sum_i w_i D_i^2 falls by with it, in a unit.
struct SeedStretch {
  index_t begin, count;
  long long most_gain;
};
struct SeedPairsArguments {
  const unsigned* signs;  ///< chunks x 4 x rows
  index_t rows;
  int count;             ///< candidates
  index_t most;          ///< pairs that there is room for
  word64* total;         ///< 0 at first; how many there would be
  SeedStretch* stretch;  ///< of each candidate
  SeedPair* pairs;
};

/// seeding/kernels/seed_pairs.cuh, a block 32 candidates
struct SeedPairsPolicy {
  static constexpr DType type = DType::float16;
  static constexpr int threads = 1024, blocks_at_once = 2;
  static constexpr int shared_bytes = threads / 32 * 33 * 4 + 8;  ///< static

  TS_POLICY(SeedPairsPolicy, SeedPairsArguments, "assign/seeding/nearer_policy.hpp");
};

struct SeedMeasureArguments {
  const float* rows;
  int ld;
  const index_t* numbers;
  const word64* total;
  index_t most;
  SeedPair* pairs;
};

/// seeding/kernels/seed_measure.cuh, eight lanes a pair
struct SeedMeasurePolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(SeedMeasurePolicy, SeedMeasureArguments, "assign/seeding/nearer_policy.hpp");
};

/// sum_i w_i D_i^2 in a unit, before choices and after them, and how many there were; -1: of too many pairs none.
struct SeedOutcome {
  long long before, left;
  double unit;
  int choices;
};

struct SeedAheadArguments {
  const float* squared;   ///< of each row
  const double* weights;  ///< of each row; none: 1
  index_t count;          ///< rows
  int draws;
  word64 stream, key, first_number;
  unsigned* arrivals;  ///< 0 at first
  long long* sums;     ///< two of each block
  long long* through;  ///< of each row
  index_t* numbers;    ///< of each draw, the row
  float* least;        ///< and D^2 at which it is taken no longer
  SeedOutcome* outcome;
  word64* pairs;    ///< becomes 0
  unsigned* marks;  ///< of each row; they become 0
};

/// seeding/kernels/seed_ahead.cuh
struct SeedAheadPolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 512, most_blocks = 256;
  static constexpr int shared_bytes = threads / 32 * 16 + most_blocks * 8;  ///< static

  TS_POLICY(SeedAheadPolicy, SeedAheadArguments, "assign/seeding/nearer_policy.hpp");
};

struct SeedGainsArguments {
  const SeedPair* pairs;
  const word64* total;
  index_t most;
  const float* squared;        ///< of each row
  const double* weights;       ///< of each row; none: 1
  const SeedOutcome* outcome;  ///< with the unit
  int count;                   ///< candidates
  SeedStretch* stretch;        ///< of each
};

/// seeding/kernels/seed_gains.cuh, a warp a candidate
struct SeedGainsPolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(SeedGainsPolicy, SeedGainsArguments, "assign/seeding/nearer_policy.hpp");
};

struct SeedTurnsArguments {
  const SeedPair* pairs;
  const SeedStretch* stretch;  ///< of each draw
  const word64* total;         ///< of pairs
  index_t most_pairs;          ///< beyond which nothing is chosen
  float* squared;              ///< of each row, lowered
  const double* weights;       ///< of each row; none: 1
  const index_t* numbers;
  const float* least;
  int count, trials, most;  ///< draws, of each choice, and choices
  double enough;
  index_t* chosen;
  SeedOutcome* outcome;
  unsigned* marks;  ///< of each row, 0 at first
};

/// seeding/kernels/seed_turns.cuh
struct SeedTurnsPolicy {
  static constexpr DType type = DType::float32;
  static constexpr int threads = 512, most_trials = 16;
  static constexpr int shared_bytes = threads / 32 * (32 + 4 * most_trials) + 16;  ///< static
  static constexpr int bytes_of_draw = 24;                                         ///< dynamic

  TS_POLICY(SeedTurnsPolicy, SeedTurnsArguments, "assign/seeding/nearer_policy.hpp");
};

}  // namespace ts::inline v0::cuda
