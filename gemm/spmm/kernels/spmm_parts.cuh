// Y = alpha (op(A) + diagonal I) X + beta Y by parts of equal work (core/csr_parts_policy.hpp), a warp each. A part
// writes the rows that end in it, of which the first may have begun in parts before; what it has of the row that it
// does not end is its carry, which spmm_splits adds. Teams of lanes share a part in the same way.
#include "tallskinny/gemm/spmm/kernels/sparse_row.cuh"

constexpr int warp = 32, threads = policy.threads, warps = threads / warp, teams = warp / lanes;
constexpr int part_size = ts::csr_part, none = 255;
static_assert(part_size < none && part_size % 4 == 0);

struct Part {
  int64 row, entry;   ///< the first ones
  int rows, entries;  ///< rows that end in it
};

/// Its entries in shared memory.
struct Staged {
  Element value[part_size];
  Index column[part_size];
  /// Of an entry, the number of the row that it ends, or none; behind the entries, rows that have none in this part.
  unsigned char ended[part_size];
};
static_assert(sizeof(Staged) == policy.part_bytes());

/// *at, which is read once: it shall not push X out of the caches.
template <class T>
__device__ __forceinline__ T streamed(const T* at) {
  constexpr int size = sizeof(T) == 2 ? 2 : sizeof(T) % 8 == 0 && alignof(T) == 8 ? 8 : 4;
  using Word = Choose<size == 2, unsigned short, typename Choose<size == 8, uint64, uint32>::type>::type;
  union {
    T whole;
    Word word[sizeof(T) / size];
  } bits;
#pragma unroll
  for (int w = 0; w < static_cast<int>(sizeof(T)) / size; ++w)
    bits.word[w] = __ldcs(reinterpret_cast<const Word*>(at) + w);
  return bits.whole;
}

/// What a thread brings from memory of a part's entries.
struct Brought {
  static constexpr int rounds = part_size / warp;
  Index column[rounds];
  Element value[rounds];

  __device__ __forceinline__ void load(const Arguments& a, const Part& part, int thread) {
    const Index* const indices = static_cast<const Index*>(a.a.indices) + part.entry;
    const Element* const values = static_cast<const Element*>(a.a.values) + part.entry;
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      if (const int e = k * warp + thread; e < part.entries)
        column[k] = streamed(indices + e), value[k] = streamed(values + e);
  }
  __device__ __forceinline__ void store(Staged& staged, const Part& part, int thread) const {
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      if (const int e = k * warp + thread; e < part.entries) staged.column[e] = column[k], staged.value[e] = value[k];
  }
};

/// Notes which entry ends which row. @return the number of rows that have no entries in this part.
__device__ __forceinline__ int stage_rows(Staged& staged, const Arguments& a, const Part& part, int thread) {
  int without = 0;
  for (int first = 0; first < part.rows; first += warp) {
    const int i = first + thread;
    int64 begin = 0, end = 0;
    if (i < part.rows) begin = a.a.pointers[part.row + i], end = a.a.pointers[part.row + i + 1];
    if (begin < part.entry) begin = part.entry;
    const bool some = begin < end, empty = i < part.rows && !some;
    const uint32 all = __ballot_sync(0xffffffffu, empty);
    if (some) staged.ended[end - 1 - part.entry] = static_cast<unsigned char>(i);
    if (empty)
      staged.ended[part.entries + without + __popc(all & ((1u << thread) - 1))] = static_cast<unsigned char>(i);
    without += __popc(all);
  }
  return without;
}

__device__ __forceinline__ void finish_row(const Arguments& a, int64 i, RowSums& sums, int lane) {
  RowBefore before;
  if constexpr (policy.shifted) {
    load_row(before, a, i, lane);
    add_row(sums, a, i, a.diagonal, lane);
  }
  store_row(a, i, sums, before, lane);
}

/// What a team has of the rows of its entries.
struct TeamSums {
  int first_row = none;  ///< the first row that ends in them
  RowSums first = {};    ///< its sums
  RowSums last = {};     ///< those of the row that does not end
};

/// Sums of the entries [begin, end), `unroll` of them under way at the same time. Of the rows that end there, all but
/// the first are written.
__device__ __forceinline__ void sum_entries(TeamSums& sums, const Arguments& a, const Part& part, const Staged& staged,
                                            int begin, int end, int lane) {
  for (int e = begin; e < end; e += unroll) {
    Piece piece[unroll][passes];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      if (e + u >= end) continue;
      const Index column = staged.column[e + u];
#pragma unroll
      for (int pass = 0; pass < passes; ++pass)
        if (inside(pass, lane)) piece[u][pass] = *reinterpret_cast<const Piece*>(x_at(a, column, place_of(pass, lane)));
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      if (e + u >= end) continue;
      const Result wide = widen(staged.value[e + u]), factor = policy.conjugate ? conj(wide) : wide;
#pragma unroll
      for (int pass = 0; pass < passes; ++pass)
        if (inside(pass, lane)) add_piece(sums.last.part[pass], factor, piece[u][pass]);
      const int ended = staged.ended[e + u];
      if (ended == none) continue;
      if (teams > 1 && sums.first_row == none)
        sums.first_row = ended, sums.first = sums.last;
      else
        finish_row(a, part.row + ended, sums.last, lane);
      sums.last = {};
    }
  }
}

/// Adds to each team's sums those of the teams before it, in a fixed order, as far as they belong to the same row.
__device__ __forceinline__ void join_teams(TeamSums& sums, int thread) {
  const auto up = [](RowSums& from, int distance) {
    RowSums to;
#pragma unroll
    for (int pass = 0; pass < passes; ++pass)
#pragma unroll
      for (int k = 0; k < vector; ++k)
        to.part[pass][k] =
            by_words(from.part[pass][k], [&](uint32 w) { return __shfl_up_sync(0xffffffffu, w, distance); });
    return to;
  };
  const auto add = [](RowSums& to, const RowSums& from) {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass)
#pragma unroll
      for (int k = 0; k < vector; ++k) to.part[pass][k] = plus(from.part[pass][k], to.part[pass][k]);
  };
  bool begins = sums.first_row != none;  // the row of `last` begins in what it stands for
#pragma unroll
  for (int distance = lanes; distance < warp; distance *= 2) {
    const RowSums before = up(sums.last, distance);
    const bool begins_before = __shfl_up_sync(0xffffffffu, begins, distance);
    if (thread < distance) continue;
    if (!begins) add(sums.last, before);
    begins = begins || begins_before;
  }
  const RowSums before = up(sums.last, lanes);
  if (thread >= lanes) add(sums.first, before);
}

extern "C" __global__ void __launch_bounds__(threads, policy.blocks) spmm_parts(const __grid_constant__ Arguments a) {
  __shared__ Staged all[warps];
  const int thread = threadIdx.x % warp, lane = thread % lanes, team = thread / lanes;
  Staged& staged = all[threadIdx.x / warp];
  const int64 number = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / warp;
  if (number >= a.parts.count) return;
  const int64 row = a.parts.cuts[number], row_end = a.parts.cuts[number + 1];
  const int64 units = a.rows + a.a.pointers[a.rows], cut = (number + 1) * part_size;
  const int64 entry = number * part_size - row, entry_end = (cut < units ? cut : units) - row_end;
  const Part part{row, entry, static_cast<int>(row_end - row), static_cast<int>(entry_end - entry)};

  for (int w = thread; w < part_size / 4; w += warp) reinterpret_cast<uint32*>(staged.ended)[w] = 0xffffffffu;
  __syncwarp();
  Brought brought;
  brought.load(a, part, thread);
  const int without = stage_rows(staged, a, part, thread);
  brought.store(staged, part, thread);
  __syncwarp();
  for (int k = team; k < without; k += teams) {
    RowSums nothing = {};
    finish_row(a, part.row + staged.ended[part.entries + k], nothing, lane);
  }
  TeamSums sums;
  const int share = ts::team_share(part.entries, teams), begin = team * share;
  sum_entries(sums, a, part, staged, begin, min(begin + share, part.entries), lane);
  __syncwarp();
  if constexpr (teams > 1) {
    join_teams(sums, thread);
    if (sums.first_row != none) finish_row(a, part.row + sums.first_row, sums.first, lane);
  }
  if (team != teams - 1 || row_end == a.rows || a.a.pointers[row_end] >= entry_end) return;
#pragma unroll
  for (int pass = 0; pass < passes; ++pass)
    if (inside(pass, lane))
#pragma unroll
      for (int k = 0; k < vector; ++k)
        a.carries[number * policy.q + place_of(pass, lane) + k] = sums.last.part[pass][k];
}
