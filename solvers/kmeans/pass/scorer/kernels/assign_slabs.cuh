// Scores like assign_scores.cuh, for rows of any number of columns. Registers hold the scores of a warp's rows with a
// chunk of centroids, and a slab of columns of these rows. Rows come straight from memory, once for each chunk; slabs
// of centroids come through a ring of stages that all warps of a block share.
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_keys.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_labels.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

using Arguments = ts::cuda::ScoresArguments;
constexpr int steps = policy.steps, tiles = policy.tiles, row_tiles = policy.row_tiles, slots = 2 * row_tiles;
constexpr int chunk = policy.chunk, chunks = policy.chunks(), slab = policy.slab, slabs = policy.slabs();
constexpr bool paired = policy.paired, thirds = paired;
constexpr int warp_rows = policy.warp_rows(), words = (slots + 3) / 4, mark_bits = row_tiles == 1 ? 16 : 32;
constexpr int index_bits = bits_for(2 * chunk);
constexpr bool chained = policy.chained();
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_best.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_quads.cuh"

/// The ring: stage `turn` has slab turn % slabs of chunk turn / slabs % chunks, part after part, tile after tile, two
/// registers of B for each lane and step.
struct Ring {
  unsigned char* memory;
  static constexpr int part_bytes = chunk * slab * 256;

  [[nodiscard]] __device__ __forceinline__ const uint2* stage(int turn) const {
    return reinterpret_cast<const uint2*>(memory + turn % policy.stages * policy.stage_bytes());
  }
  /// All threads of the block fetch a stage; asynchronous.
  __device__ __forceinline__ void fetch(const Arguments& a, int turn) const {
    const int number = turn / slabs % chunks, bytes = tiles_of(number) * slab * 256;
    unsigned char* const to = memory + turn % policy.stages * policy.stage_bytes();
#pragma unroll
    for (int part = 0; part < policy.parts; ++part) {
      const unsigned char* const from =
          static_cast<const unsigned char*>(a.centroids) +
          ((static_cast<int64>(part) * tiles + number * chunk) * steps + turn % slabs * slab) * 256;
      for (int at = 16 * threadIdx.x; at < bytes; at += 16 * policy.threads())
        copy_async<16>(to + part * part_bytes + at, from + at / (slab * 256) * (steps * 256) + at % (slab * 256), 16);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  /// The oldest stage that is under way is there for all threads, and that before it is free.
  __device__ __forceinline__ void wait() const {
    asm volatile("cp.async.wait_group %0;" ::"n"(policy.stages - 2) : "memory");
    __syncthreads();
  }
};

/// A slab of the columns of a warp's raw rows.
struct Raw {
  Element part[slab][slots][4];

  __device__ __forceinline__ void load(const Element* const (&rows)[slots], int number) {
    const int column = 16 * slab * number + 4 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
    for (int step = 0; step < slab; ++step)
#pragma unroll
      for (int s = 0; s < slots; ++s) load_four(rows[s], column + 16 * step, part[step][s]);
  }
};

/// The fragments of it.
struct Operand {
  uint32 part[policy.parts][row_tiles][slab][4];

  /// @tparam Norms whether squares of the columns are added up for each row
  template <bool Norms>
  __device__ __forceinline__ void take(const Raw& raw, int number, const Shift* shifts, double scale,
                                       Row (&row)[slots]) {
    const int column = 16 * slab * number + 4 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
    for (int step = 0; step < slab; ++step)
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        float squared = 0, rest = 0;
        const QuadParts parts = parts_of(raw.part[step][s], column + 16 * step, shifts, scale, squared, rest);
#pragma unroll
        for (int p = 0; p < policy.parts; ++p)
#pragma unroll
          for (int pair = 0; pair < 2; ++pair) part[p][s / 2][step][2 * pair + s % 2] = parts.pair[p][pair];
        if (Norms) row[s].squared += squared, row[s].rest += rest;
      }
  }
};

/// Scores of a warp's rows with a chunk of centroids, so far.
struct Scores {
  float of[chunk][row_tiles][4] = {};

  __device__ __forceinline__ void add(const Operand& a, const uint2* stage) {
    const uint2* const from = stage + threadIdx.x % 32;
#pragma unroll
    for (int tile = 0; tile < chunk; ++tile) {
      if (tile % 4 == 0) asm volatile("" ::: "memory");  // so that not all of a stage is loaded at once
      const uint2* const upper = from + tile * slab * 32;
      if constexpr (chained) {
        add_upper(of[tile], a, upper);
      } else {
        // Instructions truncate: lower parts go first, and slabs are added up with rounding.
        float sum[row_tiles][4] = {};
        if constexpr (policy.parts == 2)
#pragma unroll
          for (int step = 0; step < slab; ++step)
#pragma unroll
            for (int r = 0; r < row_tiles; ++r) {
              multiply(sum[r], a.part[0][r][step], upper[Ring::part_bytes / 8 + step * 32], sum[r]);
              multiply(sum[r], a.part[policy.parts - 1][r][step], upper[step * 32], sum[r]);
            }
        add_upper(sum, a, upper);
#pragma unroll
        for (int i = 0; i < 4 * row_tiles; ++i) of[tile][i / 4][i % 4] += sum[i / 4][i % 4];
      }
    }
  }
  static __device__ __forceinline__ void add_upper(float (&sum)[row_tiles][4], const Operand& a, const uint2* upper) {
#pragma unroll
    for (int step = 0; step < slab; ++step)
#pragma unroll
      for (int r = 0; r < row_tiles; ++r) multiply(sum[r], a.part[0][r][step], upper[step * 32], sum[r]);
  }
  /// Takes the scores of a chunk into the results of the rows.
  __device__ __forceinline__ void compare(const Arguments& a, int number, uint32 places, Row (&row)[slots]) const {
    const int present = tiles_of(number);
    const float* const origins = a.origins + 8 * chunk * number + static_cast<int>(threadIdx.x) % 4 * 2;
    Best found;
#pragma unroll
    for (int tile = 0; tile < chunk; ++tile) {
      if (tile >= present) break;
      add_tile(found, of[tile], __ldg(reinterpret_cast<const float2*>(origins + 8 * tile)), places, tile);
    }
#pragma unroll
    for (int s = 0; s < slots; ++s) also(row[s], found.of(s, 8 * chunk * number));
  }
};

extern "C" __global__ void __launch_bounds__(policy.threads(), policy.blocks)
    assign_slabs(ts::cuda::ScoresArguments a) {
  extern __shared__ __align__(16) unsigned char memory[];
  const Ring ring{memory};
  Shift* const shifts = reinterpret_cast<Shift*>(memory + policy.shifts_at());
  LabelWriter writer{a.x,      a.selection, a.sums,
                     a.labels, a.undecided, reinterpret_cast<int*>(memory + policy.sums_at())};
  const int64 count = count_of(a.selection, a.x);
  const uint32 places = a.one << index_bits;
  writer.begin();
  set_shifts(shifts, a);
  for (int turn = 0; turn < policy.stages - 1; ++turn) ring.fetch(a, turn);
  __syncthreads();
  const Bound bound = bound_of_parts(*a.largest, policy.d, policy.parts, chained ? steps : slab, chained ? 0 : slabs);
  const int lane = threadIdx.x % 32;
  int turn = 0;
  for (int64 block = static_cast<int64>(blockIdx.x) * policy.warps * warp_rows; block < count;
       block += static_cast<int64>(gridDim.x) * policy.warps * warp_rows) {
    const int64 first = block + threadIdx.x / 32 * warp_rows;
    int64 mine[words];
#pragma unroll
    for (int w = 0; w < words; ++w) mine[w] = w * 32 + lane < warp_rows ? writer.row(first + w * 32 + lane, count) : -1;
    const Element* rows[slots];
    Row row[slots];
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      rows[s] = row_of(a.x, row_of_slot(mine, s));
      row[s] = {3e30f, 3e30f, 0, 0, 0, 3e30f, 0};
    }
    Raw raw;
    raw.load(rows, 0);
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      Scores scores;
#pragma unroll 1
      for (int number = 0; number < slabs; ++number) {
        Operand operand;
        if (c == 0)
          operand.take<true>(raw, number, shifts, a.scale, row);
        else
          operand.take<false>(raw, number, shifts, a.scale, row);
        if (c + 1 < chunks || number + 1 < slabs) raw.load(rows, number + 1 < slabs ? number + 1 : 0);
        ring.wait();
        ring.fetch(a, (turn + policy.stages - 1) % (chunks * slabs * policy.stages));
        scores.add(operand, ring.stage(turn));
        if (++turn == chunks * slabs * policy.stages) turn = 0;
      }
      scores.compare(a, c, places, row);
    }
#pragma unroll
    for (int w = 0; w < words; ++w) {
      if (first + w * 32 >= count) continue;
      const Row all = collect(row, w);
      const float within = undecided_within(bound, all, a.per_unit);
      if (paired && mine[w] >= 0)
        a.pairs.of_row[mine[w]] = all.third - all.best > within ? Pair{all.label, all.other} : Pair{-1, -1};
      writer.write<mark_bits>(first + w * 32, mine[w], writer.before(mine[w]), all.label,
                              all.second - all.best > within);
    }
  }
  wait_for_copies();
  writer.end(a.counts);
}
