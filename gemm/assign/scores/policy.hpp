// What specialises the kernels that score rows, and their arguments.
#pragma once

#include "tallskinny/gemm/assign/scores/arguments.hpp"

namespace ts::cuda {

/// Of sums in shared memory (assign_settle.cuh), for so many clusters.
[[nodiscard]] constexpr int chip_words(int clusters, int d) noexcept { return clusters * (4 * (d + 1) + 1); }
/// Of a column's shift (assign_load.cuh).
[[nodiscard]] constexpr int shift_bytes(bool wide) noexcept { return wide ? 8 : 4; }
/// Rows of a warpgroup's tile; bytes of 16 columns of a float16 operand in shared memory are 32 for each of its rows.
inline constexpr int group_rows = 64, step_bytes = 32;

struct NarrowArguments {
  RowsArgument x;
  Selection selection;
  const void* negated;
  const float* origins;
  unsigned one, open;  ///< 1, which compilers must not know; units of scores within which nothing is decided
  const double* shift;
  double scale;
  int* labels;
  unsigned* undecided;
  Margin margin;
  SumsArgument sums;
  PassCounts* counts;
};

/// scores/kernels/assign_narrow.cuh
struct NarrowPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/scores/policy.hpp";
  static constexpr char name[] = "ts::cuda::NarrowPolicy";
  using Arguments = NarrowArguments;

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
  bool margin = false;   ///< labels are kept only with a margin

  static constexpr int most_vector = 16;
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return 8 * ((groups + 1) / 2); }
  [[nodiscard]] constexpr int warp_rows() const { return 32 * rows; }
  [[nodiscard]] constexpr int shifts_at() const { return groups * (d + 1) * 16; }
  [[nodiscard]] constexpr int sums_at() const { return shifts_at() + (d + 3) / 4 * 4 * shift_bytes(wide); }
  [[nodiscard]] constexpr int shared_bytes() const { return sums_at() + (on_chip ? 4 * chip_words(clusters(), d) : 0); }

  template <class Self, class Each>
  static constexpr void members(Self& p, Each each) {
    each("type", p.type), each("d", p.d), each("groups", p.groups), each("rows", p.rows), each("wide", p.wide),
        each("vector", p.vector), each("alignment", p.alignment), each("warps", p.warps), each("blocks", p.blocks),
        each("on_chip", p.on_chip), each("fast", p.fast), each("margin", p.margin);
  }
  friend bool operator==(const NarrowPolicy&, const NarrowPolicy&) = default;
};

struct SingleArguments {
  RowsArgument x;
  const void* fragments;
  const float* origins;
  float units, reach;
  unsigned one;
  const Largest* largest;
  double scale;
  int* labels;
  unsigned* undecided;
  Margin margin;
  SumsArgument sums;
  PassCounts* counts;
};

/// scores/kernels/assign_single.cuh
struct SinglePolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/scores/policy.hpp";
  static constexpr char name[] = "ts::cuda::SinglePolicy";
  using Arguments = SingleArguments;

  DType type = DType::float64;
  int d = 1;              ///< columns
  int steps = 1;          ///< of 16 columns
  int tiles = 1;          ///< of 8 centroids
  int parts = 1;          ///< of centroids; 3: of rows, too, three products
  int row_tiles = 2;      ///< of 16 rows: 2 or 4
  int group = 0;          ///< tiles whose scores are compared together; 0: pair by pair
  bool packed = true;     ///< nothing lies between rows
  bool ahead = false;     ///< the next rows come into registers meanwhile
  bool confirms = false;  ///< only whether rows keep their labels is found
  int warps = 8;          ///< of a block
  int blocks = 1;         ///< of a multiprocessor
  bool on_chip = false;   ///< sums are kept in shared memory until the block is done
  bool fast = false;      ///< the best score is taken at its word
  bool margin = false;    ///< labels are kept only with a margin

  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return 8 * tiles; }
  [[nodiscard]] constexpr int warp_rows() const { return 16 * row_tiles; }
  /// Of four columns that a copy of a row fills: rows of up to 8 columns fill K with copies.
  [[nodiscard]] constexpr int quads() const { return d <= 4 ? 1 : d <= 8 ? 2 : 4; }
  [[nodiscard]] constexpr int planes() const { return parts == 1 ? 1 : 2; }
  [[nodiscard]] constexpr int products() const { return quads() == 4 ? planes() * steps : 1; }
  [[nodiscard]] constexpr int starts_at() const { return tiles * products() * 256; }
  [[nodiscard]] constexpr int sums_at() const { return starts_at() + 32 * tiles; }
  [[nodiscard]] constexpr int shared_bytes() const { return sums_at() + (on_chip ? 4 * chip_words(clusters(), d) : 0); }
  static constexpr int static_bytes = 16;  ///< what the bound of a row is made of

  template <class Self, class Each>
  static constexpr void members(Self& p, Each each) {
    each("type", p.type), each("d", p.d), each("steps", p.steps), each("tiles", p.tiles), each("parts", p.parts),
        each("row_tiles", p.row_tiles), each("group", p.group), each("packed", p.packed), each("ahead", p.ahead),
        each("confirms", p.confirms), each("warps", p.warps), each("blocks", p.blocks), each("on_chip", p.on_chip),
        each("fast", p.fast), each("margin", p.margin);
  }
  friend bool operator==(const SinglePolicy&, const SinglePolicy&) = default;
};

/// Of the three kernels that shift and scale rows before they multiply them by tensor instructions.
struct ScoresArguments {
  RowsArgument x;
  Selection selection;
  const void* fragments;
  const float* origins;
  float per_unit;
  unsigned one;
  const Largest* largest;
  const double* shift;
  double scale;
  int* labels;
  unsigned* undecided;
  PairsArgument pairs;
  Margin margin;
  SumsArgument sums;
  PassCounts* counts;
};

/// scores/kernels/assign_scores.cuh
struct TensorPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/scores/policy.hpp";
  static constexpr char name[] = "ts::cuda::TensorPolicy";
  using Arguments = ScoresArguments;

  DType type = DType::float64;
  int d = 1;             ///< columns
  int steps = 1;         ///< of 16 columns
  int tiles = 1;         ///< of 8 centroids
  int chunk = 1;         ///< of these that lie together
  bool resident = true;  ///< all chunks stay in shared memory
  int row_tiles = 1;     ///< of 16 rows
  int parts = 1;         ///< of each number
  bool paired = false;   ///< where only two centroids are left, they are told
  bool wide = false;     ///< x - shift in float64
  int vector = 1;        ///< elements of one load
  int alignment = 8;     ///< of it
  int warps = 8;         ///< of a block
  int blocks = 1;        ///< of a multiprocessor
  bool on_chip = false;  ///< sums are kept in shared memory until the block is done
  bool fast = false;     ///< the best score is taken at its word
  bool margin = false;   ///< labels are kept only with a margin

  static constexpr int most_vector = 4;
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return 8 * tiles; }
  [[nodiscard]] constexpr int warp_rows() const { return 16 * row_tiles; }
  [[nodiscard]] constexpr int chunks() const { return (tiles + chunk - 1) / chunk; }
  [[nodiscard]] constexpr int chunk_bytes() const { return chunk * (steps * 256 * parts + 32); }
  [[nodiscard]] constexpr int shifts_at() const { return (resident ? chunks() : 2) * chunk_bytes(); }
  [[nodiscard]] constexpr int sums_at() const { return shifts_at() + 16 * steps * shift_bytes(wide); }
  [[nodiscard]] constexpr int shared_bytes() const { return sums_at() + (on_chip ? 4 * chip_words(clusters(), d) : 0); }

  template <class Self, class Each>
  static constexpr void members(Self& p, Each each) {
    each("type", p.type), each("d", p.d), each("steps", p.steps), each("tiles", p.tiles), each("chunk", p.chunk),
        each("resident", p.resident), each("row_tiles", p.row_tiles), each("parts", p.parts), each("paired", p.paired),
        each("wide", p.wide), each("vector", p.vector), each("alignment", p.alignment), each("warps", p.warps),
        each("blocks", p.blocks), each("on_chip", p.on_chip), each("fast", p.fast), each("margin", p.margin);
  }
  friend bool operator==(const TensorPolicy&, const TensorPolicy&) = default;
};

/// scores/kernels/assign_producers.cuh
struct ProducersPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/scores/policy.hpp";
  static constexpr char name[] = "ts::cuda::ProducersPolicy";
  using Arguments = ScoresArguments;

  DType type = DType::float64;
  int d = 1;              ///< columns
  int steps = 1;          ///< of 16 columns
  int centroids = 64;     ///< padded to whole chunks
  int chunk = 64;         ///< of them
  int stages = 0;         ///< chunks in the ring
  bool confirms = false;  ///< only whether rows keep their labels is found
  bool wide = false;      ///< x - shift in float64
  int vector = 1;         ///< elements of one load
  int alignment = 8;      ///< of it
  int warps = 8;          ///< of a block
  int blocks = 1;         ///< of a multiprocessor
  bool on_chip = false;   ///< sums are kept in shared memory until the block is done
  bool fast = false;      ///< the best score is taken at its word
  bool margin = false;    ///< labels are kept only with a margin

  static constexpr int most_vector = 16;
  static constexpr int parts = 1, groups = 3, consumers = 4 * groups, producers = 7;  ///< warpgroups, warps
  static constexpr int most_held = 5;  ///< steps of rows in registers, as many as groups have left
  static constexpr int producer_registers = 72;
  static constexpr int most_stages = 8, near_centroids = 2048;  ///< whose origins come into shared memory
  static constexpr int known_bytes = 16;                        ///< what is told of a row beside its columns
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return centroids; }
  /// With one more that decides by signs (assign_confirm.cuh).
  [[nodiscard]] constexpr int all_steps() const { return steps + (confirms ? 1 : 0); }
  [[nodiscard]] constexpr int held() const { return all_steps() < most_held ? all_steps() : most_held; }
  [[nodiscard]] constexpr int stage_bytes() const { return all_steps() * step_bytes * chunk; }
  [[nodiscard]] constexpr int left_bytes() const { return all_steps() * step_bytes * group_rows; }
  [[nodiscard]] constexpr int near_origins() const { return !confirms && centroids <= near_centroids ? centroids : 0; }
  [[nodiscard]] constexpr int left_at() const { return stages * stage_bytes(); }
  [[nodiscard]] constexpr int known_at() const { return left_at() + 2 * groups * left_bytes(); }
  [[nodiscard]] constexpr int origins_at() const {
    return known_at() + (confirms ? 0 : 2 * groups * group_rows * known_bytes);
  }
  [[nodiscard]] constexpr int shifts_at() const { return origins_at() + 4 * near_origins(); }
  [[nodiscard]] constexpr int barriers_at() const { return shifts_at() + 16 * all_steps() * shift_bytes(wide); }
  [[nodiscard]] constexpr int shared_bytes() const { return barriers_at() + 8 * (2 * most_stages + 4 * groups); }

  template <class Self, class Each>
  static constexpr void members(Self& p, Each each) {
    each("type", p.type), each("d", p.d), each("steps", p.steps), each("centroids", p.centroids),
        each("chunk", p.chunk), each("stages", p.stages), each("confirms", p.confirms), each("wide", p.wide),
        each("vector", p.vector), each("alignment", p.alignment), each("warps", p.warps), each("blocks", p.blocks),
        each("on_chip", p.on_chip), each("fast", p.fast), each("margin", p.margin);
  }
  friend bool operator==(const ProducersPolicy&, const ProducersPolicy&) = default;
};

/// scores/kernels/assign_groups.cuh
struct GroupsPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/scores/policy.hpp";
  static constexpr char name[] = "ts::cuda::GroupsPolicy";
  using Arguments = ScoresArguments;

  DType type = DType::float64;
  int d = 1;             ///< columns
  int steps = 1;         ///< of 16 columns
  int centroids = 64;    ///< padded to whole chunks
  int chunk = 64;        ///< of them: 64 or 128
  int groups = 1;        ///< warpgroups
  int stages = 0;        ///< of the ring
  int stage_steps = 1;   ///< of a stage
  int held = 0;          ///< steps of rows in registers: whole stages
  int parts = 1;         ///< of each number
  int ahead = 0;         ///< bytes of the next rows that are fetched into the caches
  bool wide = false;     ///< x - shift in float64
  int vector = 1;        ///< elements of one load
  int alignment = 8;     ///< of it
  int warps = 8;         ///< of a block
  int blocks = 1;        ///< of a multiprocessor
  bool on_chip = false;  ///< sums are kept in shared memory until the block is done
  bool fast = false;     ///< the best score is taken at its word
  bool margin = false;   ///< labels are kept only with a margin

  static constexpr int most_vector = 16;
  static constexpr int most_stages = 8, producer_registers = 24;
  [[nodiscard]] constexpr int threads() const { return 32 * warps; }
  [[nodiscard]] constexpr int registers() const { return 65536 / threads() / blocks / 8 * 8; }
  [[nodiscard]] constexpr int clusters() const { return centroids; }
  [[nodiscard]] constexpr int consumers() const { return 4 * groups; }
  [[nodiscard]] constexpr int stage_bytes() const { return parts * stage_steps * step_bytes * chunk; }
  [[nodiscard]] constexpr int left_part() const { return (steps - held) * step_bytes * group_rows; }
  [[nodiscard]] constexpr int left_bytes() const { return parts * left_part(); }
  [[nodiscard]] constexpr int left_at() const { return stages * stage_bytes(); }
  [[nodiscard]] constexpr int barriers_at() const { return left_at() + groups * left_bytes(); }
  [[nodiscard]] constexpr int shifts_at() const { return barriers_at() + 16 * stages; }
  /// Behind shifts, what barriers of fewer stages leave.
  [[nodiscard]] constexpr int shared_bytes() const {
    return barriers_at() + 16 * most_stages + 16 * steps * shift_bytes(wide);
  }

  template <class Self, class Each>
  static constexpr void members(Self& p, Each each) {
    each("type", p.type), each("d", p.d), each("steps", p.steps), each("centroids", p.centroids),
        each("chunk", p.chunk), each("groups", p.groups), each("stages", p.stages), each("stage_steps", p.stage_steps),
        each("held", p.held), each("parts", p.parts), each("ahead", p.ahead), each("wide", p.wide),
        each("vector", p.vector), each("alignment", p.alignment), each("warps", p.warps), each("blocks", p.blocks),
        each("on_chip", p.on_chip), each("fast", p.fast), each("margin", p.margin);
  }
  friend bool operator==(const GroupsPolicy&, const GroupsPolicy&) = default;
};

}  // namespace ts::cuda
