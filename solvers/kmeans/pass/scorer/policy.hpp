// Policies that specialise the kernels of scores, and those before and after them, and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"

namespace ts::inline v0::cuda {

/// Words of sums in shared memory (assign_labels.cuh), for so many clusters.
[[nodiscard]] constexpr int chip_words(int clusters, int d) noexcept { return clusters * (4 * (d + 1) + 1); }
/// Bytes of a column's shift (assign_load.cuh).
[[nodiscard]] constexpr int shift_bytes(bool wide) noexcept { return wide ? 8 : 4; }
/// Rows of a warpgroup's tile; bytes of 16 columns of a float16 operand in shared memory are 32 for each of its rows.
inline constexpr int group_rows = 64, step_bytes = 32;

/// scorer/kernels/assign_narrow.cuh
struct NarrowPolicy {
  DType type = DType::float64;
  int d = 1;             ///< columns
  int groups = 1;        ///< of four centroids
  int rows = 2;          ///< of a lane
  bool wide = false;     ///< x - shift in float64
  int vector = 1;        ///< elements of one load
  int alignment = 8;     ///< of it
  int warps = 8;         ///< of a block
  int blocks = 1;        ///< of a multiprocessor
  bool on_chip = false;  ///< sums are kept in shared memory until the block is done
  bool fast = false;     ///< the best score is taken at its word

  static constexpr int most_vector = 16;
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return 8 * ((groups + 1) / 2); }
  [[nodiscard]] constexpr int warp_rows() const { return 32 * rows; }
  [[nodiscard]] constexpr int shifts_at() const { return groups * (d + 1) * 16; }
  [[nodiscard]] constexpr int sums_at() const { return shifts_at() + (d + 3) / 4 * 4 * shift_bytes(wide); }
  [[nodiscard]] constexpr int shared_bytes() const { return sums_at() + (on_chip ? 4 * chip_words(clusters(), d) : 0); }

  TS_POLICY(NarrowPolicy, ScoresArguments, "solvers/kmeans/pass/scorer/policy.hpp", type, d, groups, rows, wide, vector,
            alignment, warps, blocks, on_chip, fast);
};

/// Tensor instructions of a warp: scorer/kernels/assign_single.cuh for raw rows, assign_scores.cuh for rows that are
/// shifted and scaled first.
struct TensorPolicy {
  DType type = DType::float64;
  int d = 1;             ///< columns
  int steps = 1;         ///< of 16 columns
  int tiles = 1;         ///< of 8 centroids
  int chunk = 1;         ///< of these that lie together
  bool resident = true;  ///< all chunks stay in shared memory
  int row_tiles = 1;     ///< of 16 rows
  int parts = 1;         ///< of each number; of raw rows 2: of centroids alone, 3: three products
  bool paired = false;   ///< where only two centroids are left, writes both
  bool raw = false;      ///< rows are neither shifted nor scaled; what follows to `ahead` is theirs
  int group = 0;         ///< tiles whose scores are compared together; 0: pair by pair
  bool packed = true;    ///< nothing lies between rows
  bool ahead = false;    ///< the next rows come into registers meanwhile
  bool wide = false;     ///< x - shift in float64
  int vector = 1;        ///< elements of one load
  int alignment = 8;     ///< of it
  int warps = 8;         ///< of a block
  int blocks = 1;        ///< of a multiprocessor
  bool on_chip = false;  ///< sums are kept in shared memory until the block is done
  bool fast = false;     ///< the best score is taken at its word

  static constexpr int most_vector = 4;
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return 8 * tiles; }
  [[nodiscard]] constexpr int warp_rows() const { return 16 * row_tiles; }
  [[nodiscard]] constexpr int chunks() const { return (tiles + chunk - 1) / chunk; }
  /// Groups of four columns that a copy of a row fills: raw rows of up to 8 columns fill K with copies.
  [[nodiscard]] constexpr int quads() const { return !raw || d > 8 ? 4 : d > 4 ? 2 : 1; }
  [[nodiscard]] constexpr int planes() const { return parts == 1 ? 1 : 2; }
  /// Factors that a lane has of a tile of centroids.
  [[nodiscard]] constexpr int products() const { return quads() == 4 ? planes() * steps : 1; }
  [[nodiscard]] constexpr int factor_bytes() const { return chunk * products() * 256; }
  [[nodiscard]] constexpr int chunk_bytes() const { return factor_bytes() + chunk * 32; }
  [[nodiscard]] constexpr int shifts_at() const { return (resident ? chunks() : 2) * chunk_bytes(); }
  [[nodiscard]] constexpr int sums_at() const { return shifts_at() + (raw ? 0 : 16 * steps * shift_bytes(wide)); }
  [[nodiscard]] constexpr int shared_bytes() const { return sums_at() + (on_chip ? 4 * chip_words(clusters(), d) : 0); }
  /// Memory for the terms of a raw row's bound.
  [[nodiscard]] constexpr int static_bytes() const { return raw ? 16 : 0; }

  TS_POLICY(TensorPolicy, ScoresArguments, "solvers/kmeans/pass/scorer/policy.hpp", type, d, steps, tiles, chunk,
            resident, row_tiles, parts, paired, raw, group, packed, ahead, wide, vector, alignment, warps, blocks,
            on_chip, fast);
};

/// Tensor instructions of a warp for rows of any number of columns: scorer/kernels/assign_slabs.cuh
struct SlabsPolicy {
  DType type = DType::float64;
  int d = 1;             ///< columns
  int steps = 2;         ///< of 16 columns, in whole slabs
  int slab = 2;          ///< steps of a row in registers
  int tiles = 1;         ///< of 8 centroids
  int chunk = 1;         ///< of these, whose scores are in registers
  int stages = 4;        ///< of a slab of a chunk, in shared memory
  int row_tiles = 1;     ///< of 16 rows
  int parts = 1;         ///< of each number
  bool paired = false;   ///< where only two centroids are left, writes both
  bool wide = false;     ///< x - shift in float64
  int vector = 1;        ///< elements of one load
  int alignment = 8;     ///< of it
  int warps = 8;         ///< of a block
  int blocks = 1;        ///< of a multiprocessor
  bool on_chip = false;  ///< sums are kept in shared memory until the block is done
  bool fast = false;     ///< the best score is taken at its word

  static constexpr int most_vector = 4;
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return 8 * tiles; }
  [[nodiscard]] constexpr int warp_rows() const { return 16 * row_tiles; }
  [[nodiscard]] constexpr int chunks() const { return (tiles + chunk - 1) / chunk; }
  [[nodiscard]] constexpr int slabs() const { return steps / slab; }
  /// With few steps, each instruction adds to the sum of the one before; that loses less than float16 parts do.
  [[nodiscard]] constexpr bool chained() const { return parts == 1 && steps <= 64; }
  [[nodiscard]] constexpr int stage_bytes() const { return parts * chunk * slab * 256; }
  [[nodiscard]] constexpr int shifts_at() const { return stages * stage_bytes(); }
  [[nodiscard]] constexpr int sums_at() const { return shifts_at() + 16 * steps * shift_bytes(wide); }
  [[nodiscard]] constexpr int shared_bytes() const { return sums_at() + (on_chip ? 4 * chip_words(clusters(), d) : 0); }

  TS_POLICY(SlabsPolicy, ScoresArguments, "solvers/kmeans/pass/scorer/policy.hpp", type, d, steps, slab, tiles, chunk,
            stages, row_tiles, parts, paired, wide, vector, alignment, warps, blocks, on_chip, fast);
};

/// Tensor instructions of a warpgroup: scorer/kernels/assign_groups.cuh
struct GroupsPolicy {
  DType type = DType::float64;
  int d = 1;              ///< columns
  int steps = 1;          ///< of 16 columns
  int centroids = 64;     ///< padded to whole chunks
  int chunk = 64;         ///< of them: 64 or 128
  int groups = 1;         ///< warpgroups that multiply
  int producers = 0;      ///< warps that make rows ready for them; none: groups do so themselves
  int stages = 0;         ///< of the ring
  int stage_steps = 1;    ///< of a stage; with producer warps all
  int held = 0;           ///< steps of rows in registers: whole stages; with producer warps any
  int parts = 1;          ///< of each number
  int ahead = 0;          ///< bytes of the next rows that are fetched into the caches
  bool confirms = false;  ///< only whether rows keep their labels is found, which takes producer warps
  bool listed = false;    ///< of each tile of rows only those centroids that are listed for it
  bool bounded = false;   ///< scores of listed centroids leave bounds for the next pass
  bool collects = false;  ///< of listed rows, the centroids that a first kernel leaves
  bool raw = false;       ///< rows are neither shifted nor scaled
  bool wide = false;      ///< x - shift in float64
  int vector = 1;         ///< elements of one load
  int alignment = 8;      ///< of it
  int warps = 8;          ///< of a block
  int blocks = 1;         ///< of a multiprocessor
  bool on_chip = false;   ///< sums are kept in shared memory until the block is done
  bool fast = false;      ///< the best score is taken at its word

  static constexpr int most_vector = 16;
  static constexpr int most_stages = 8, near_centroids = 2048;  ///< whose origins come into shared memory
  static constexpr int known_bytes = 16;  ///< what producer warps tell of a row beside its columns
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int producer_registers() const { return producers > 0 ? 72 : listed ? 64 : 24; }
  [[nodiscard]] constexpr int clusters() const { return centroids; }
  [[nodiscard]] static constexpr int warp_rows() { return 16; }
  [[nodiscard]] constexpr int consumers() const { return 4 * groups; }
  /// True if the other warps, whole warpgroups then, give their registers to these.
  [[nodiscard]] constexpr bool gives() const { return warps >= consumers() + 4; }
  /// Warps that bring listed centroids.
  [[nodiscard]] constexpr int fillers() const { return warps - consumers(); }
  /// Steps with one more that decides by signs (assign_confirm.cuh).
  [[nodiscard]] constexpr int all_steps() const { return steps + (confirms ? 1 : 0); }
  [[nodiscard]] constexpr int stage_bytes() const { return parts * stage_steps * step_bytes * chunk; }
  /// Bytes of a group's rows in shared memory; producer warps fill one of two while the other is multiplied.
  [[nodiscard]] constexpr int left_part() const {
    return (all_steps() - (producers > 0 ? 0 : held)) * step_bytes * group_rows;
  }
  [[nodiscard]] constexpr int left_bytes() const { return parts * left_part(); }
  [[nodiscard]] constexpr int row_stages() const { return producers > 0 ? 2 : 1; }
  [[nodiscard]] constexpr bool tells() const { return producers > 0 && !confirms; }
  [[nodiscard]] constexpr int near_origins() const { return tells() && centroids <= near_centroids ? centroids : 0; }
  [[nodiscard]] constexpr int left_at() const { return stages * stage_bytes(); }
  [[nodiscard]] constexpr int known_at() const { return left_at() + row_stages() * groups * left_bytes(); }
  [[nodiscard]] constexpr int origins_at() const {
    return known_at() + (tells() ? row_stages() * groups * group_rows * known_bytes : 0);
  }
  [[nodiscard]] constexpr int shifts_at() const { return origins_at() + 4 * near_origins(); }
  /// Places for the origins of chunks that are under way.
  [[nodiscard]] constexpr int slots() const { return listed ? most_stages + 1 : 0; }
  [[nodiscard]] constexpr int slots_at() const { return shifts_at() + 16 * all_steps() * shift_bytes(wide); }
  [[nodiscard]] constexpr int barriers_at() const { return slots_at() + 4 * slots() * chunk; }
  [[nodiscard]] constexpr int shared_bytes() const {
    return barriers_at() + 8 * (2 * most_stages + (producers > 0 ? 2 * row_stages() * groups : 0));
  }

  TS_POLICY(GroupsPolicy, ScoresArguments, "solvers/kmeans/pass/scorer/policy.hpp", type, d, steps, centroids, chunk,
            groups, producers, stages, stage_steps, held, parts, ahead, confirms, listed, bounded, collects, raw, wide,
            vector, alignment, warps, blocks, on_chip, fast);
};

struct LineArguments {
  RowsArgument x;
  const double* values;   ///< of centroids in ascending order, without copies
  const int* numbers;     ///< of these centroids
  int count;              ///< of these
  double shrink, factor;  ///< as in CentroidsArgument
  int* labels;
  SumsArgument sums;
  PassCounts* counts;
};

/// scorer/kernels/assign_line.cuh
struct LinePolicy {
  DType type = DType::float64;

  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(LinePolicy, LineArguments, "solvers/kmeans/pass/scorer/policy.hpp", type);
};

struct GatherArguments {
  index_t count;
  const unsigned* undecided;
  index_t* list;
  word64* listed;
};

/// scorer/kernels/assign_gather.cuh
struct GatherPolicy {
  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(GatherPolicy, GatherArguments, "solvers/kmeans/pass/scorer/policy.hpp");
};

struct PrepareArguments {
  const double *centroids, *first;  ///< the first column of all, side by side
  int count, padded;
  const double* shift;
  double scale, shrink, origin;
  double* columns;
  float *half_norms, *origins, *plain_origins;
  void *negated, *confirming;
  unsigned short* plain;  ///< padded x 16 steps, by rows, for a library; or null
  Largest* largest;
};

/// scorer/kernels/assign_prepare.cuh, a warp a centroid
struct PreparePolicy {
  int d = 1;      ///< columns
  int steps = 0;  ///< of 16 columns; 0 for scores in float32 or none
  int chunk = 0;  ///< centroids of a chunk, 0 for fragments

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;
  static constexpr int shared_bytes = 4;  ///< static: which centroids may be copies

  TS_POLICY(PreparePolicy, PrepareArguments, "solvers/kmeans/pass/scorer/policy.hpp", d, steps, chunk);
};

struct RoundArguments {
  RowsArgument x;
  const double* shift;
  double scale;
  unsigned short* halves;  ///< count x 16 steps
  float* squares;          ///< of each row ||x||^2 and ||x - rounded x||^2
};

/// scorer/kernels/assign_round.cuh, a warp a row
struct RoundPolicy {
  DType type = DType::float64;
  int d = 1;          ///< columns
  int steps = 1;      ///< of 16 columns
  bool wide = false;  ///< x - shift in float64
  int vector = 1;     ///< elements of one load
  int alignment = 8;  ///< of it

  static constexpr int threads = 256, blocks_at_once = 4, most_vector = 8;
  [[nodiscard]] constexpr int shared_bytes() const { return 16 * steps * shift_bytes(wide); }

  TS_POLICY(RoundPolicy, RoundArguments, "solvers/kmeans/pass/scorer/policy.hpp", type, d, steps, wide, vector,
            alignment);
};

struct MinimaArguments {
  ScoresArguments all;    ///< of all rows
  const float* products;  ///< of these rows, count x padded
  const float* squares;   ///< as assign_round.cuh leaves them
  index_t first, count;   ///< these rows: the first is a multiple of 32
  int padded;
};

/// scorer/kernels/assign_minima.cuh, a block for 16 rows
struct MinimaPolicy {
  DType type = DType::float64;
  int d = 1;          ///< columns
  int steps = 1;      ///< of 16 columns
  bool fast = false;  ///< the best score is taken at its word

  static constexpr int threads = 512, warps = 16, blocks_at_once = 2, parts = 1, rows = 16;
  static constexpr int shared_bytes = 2 * rows * 16;  ///< static: what becomes of the rows
  static constexpr bool on_chip = false, wide = false;
  static constexpr int clusters() { return 1; }

  TS_POLICY(MinimaPolicy, MinimaArguments, "solvers/kmeans/pass/scorer/policy.hpp", type, d, steps, fast);
};

}  // namespace ts::inline v0::cuda
