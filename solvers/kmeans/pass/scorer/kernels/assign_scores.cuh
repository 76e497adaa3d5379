// Labels of the selected rows whose scores ||c||^2 / 2 - x c decide them, by tensor instructions with float16
// parts; marks of the others. One pass over the rows, straight from memory into registers: the lanes of a quad
// share a row, a warp has 16 row_tiles of them. Centroids stay in shared memory if they fit, or all warps of a
// block go through them together, chunk by chunk. Scores never leave registers: each lane keeps the keys of the
// best two, or three, of its columns.
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_keys.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_labels.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

using Arguments = ts::cuda::ScoresArguments;
constexpr int steps = policy.steps, tiles = policy.tiles, row_tiles = policy.row_tiles, slots = 2 * row_tiles;
constexpr int chunk = policy.chunk, chunks = policy.chunks();
constexpr bool paired = policy.paired, thirds = paired;
constexpr int warp_rows = policy.warp_rows(), words = (slots + 3) / 4, mark_bits = row_tiles == 1 ? 16 : 32;
constexpr int registers_of_a_step = slots * sizeof(Element), registers_for_loads = 32;
constexpr int steps_at_once = registers_of_a_step * steps <= registers_for_loads ? steps
                              : registers_of_a_step >= registers_for_loads       ? 1
                                                                           : registers_for_loads / registers_of_a_step;
constexpr int index_bits = bits_for(2 * chunk), tiles_at_once = steps * row_tiles * policy.parts <= 4 ? 4 : 2;
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_best.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_quads.cuh"

/// A chunk of centroids in shared memory: two registers of B for each lane, step and tile, part after part;
/// then the origins of columns 2t, 2t + 1, four times for each tile.
struct Chunk {
  const uint2* fragments;
  const float2* origins;

  static constexpr int plane = chunk * steps * 32, bytes = policy.chunk_bytes();
  static_assert(policy.factor_bytes() == plane * 8 * policy.parts);
  __device__ __forceinline__ explicit Chunk(const unsigned char* memory)
      : fragments(reinterpret_cast<const uint2*>(memory)),
        origins(reinterpret_cast<const float2*>(memory + policy.factor_bytes())) {}
};

/// All threads of the block fetch a chunk; asynchronous.
__device__ __forceinline__ void fetch(unsigned char* to, const Arguments& a, int number) {
  const int present = tiles_of(number);
  constexpr int tile_bytes = steps * 256;
#pragma unroll
  for (int part = 0; part < policy.parts; ++part) {
    const unsigned char* const from = static_cast<const unsigned char*>(a.centroids) +
                                      (static_cast<int64>(part) * tiles + number * chunk) * tile_bytes;
    for (int at = 16 * threadIdx.x; at < present * tile_bytes; at += 16 * policy.threads())
      copy_async<16>(to + part * Chunk::plane * 8 + at, from + at, 16);
  }
  for (int at = threadIdx.x; at < 2 * present; at += policy.threads())
    copy_async<16>(to + policy.factor_bytes() + 16 * at, a.origins + 8 * number * chunk + 4 * at, 16);
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// The fragments of the tile's rows, and the squared norms of a lane's columns of them.
struct Operand {
  uint32 part[policy.parts][row_tiles][steps][4];
  float squared[slots];
  float rest[slots];  // of what float16 leaves of them, unless there are two parts
};

__device__ __forceinline__ void load_operand(const Rows& x, const int64 (&mine)[words], const Shift* shifts,
                                             double scale, Operand& a) {
  const int t = threadIdx.x % 4;
  int64 rows[slots];
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    rows[s] = row_of_slot(mine, s);
    a.squared[s] = a.rest[s] = 0;
  }
#pragma unroll
  for (int begin = 0; begin < steps; begin += steps_at_once) {
    Element raw[steps_at_once][slots][4];
#pragma unroll
    for (int s = 0; s < slots; ++s)
#pragma unroll
      for (int step = begin; step < begin + steps_at_once && step < steps; ++step)
        load_four(row_of(x, rows[s]), 16 * step + 4 * t, raw[step - begin][s]);
#pragma unroll
    for (int step = begin; step < begin + steps_at_once && step < steps; ++step) {
      const int column = 16 * step + 4 * t;
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        const QuadParts parts = parts_of(raw[step - begin][s], column, shifts, scale, a.squared[s], a.rest[s]);
#pragma unroll
        for (int p = 0; p < policy.parts; ++p)
#pragma unroll
          for (int pair = 0; pair < 2; ++pair) a.part[p][s / 2][step][2 * pair + s % 2] = parts.pair[p][pair];
      }
    }
  }
}

__device__ __forceinline__ void score(const Operand& a, const Chunk& b, int present, uint32 places, Best& found) {
  const int lane = threadIdx.x % 32;
#pragma unroll tiles_at_once
  for (int tile = 0; tile < present; ++tile) {
    float c[row_tiles][4] = {};
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const uint2* const from = b.fragments + (tile * steps + step) * 32 + lane;
      const uint2 upper = from[0];
      if constexpr (policy.parts == 2) {
        // Instructions truncate: lower parts go first, and steps are added up with rounding.
        const uint2 lower = from[Chunk::plane];
        float sum[row_tiles][4];
#pragma unroll
        for (int r = 0; r < row_tiles; ++r) multiply(sum[r], a.part[0][r][step], lower, {});
#pragma unroll
        for (int r = 0; r < row_tiles; ++r) multiply(sum[r], a.part[policy.parts - 1][r][step], upper, sum[r]);
#pragma unroll
        for (int r = 0; r < row_tiles; ++r) multiply(sum[r], a.part[0][r][step], upper, sum[r]);
#pragma unroll
        for (int r = 0; r < row_tiles; ++r)
#pragma unroll
          for (int i = 0; i < 4; ++i) c[r][i] = step == 0 ? sum[r][i] : c[r][i] + sum[r][i];
      } else {
#pragma unroll
        for (int r = 0; r < row_tiles; ++r) multiply(c[r], a.part[0][r][step], upper, c[r]);
      }
    }
    add_tile(found, c, b.origins[4 * tile + lane % 4], places, tile);
  }
}

/// Scores rows against all chunks of centroids. Chunks that do not stay in memory come into two places by turns.
__device__ __forceinline__ void score_chunks(Row (&row)[slots], const Operand& of_rows, const Arguments& a,
                                             unsigned char* memory, uint32 places, int& buffer) {
#pragma unroll
  for (int s = 0; s < slots; ++s)
    row[s] = {3e30f, 3e30f, of_rows.squared[s], policy.parts == 1 ? of_rows.rest[s] : 0, 0, 3e30f, 0};
#pragma unroll 1
  for (int c = 0; c < chunks; ++c) {
    if constexpr (!policy.resident) fetch(memory + (buffer ^ 1) * Chunk::bytes, a, c + 1 < chunks ? c + 1 : 0);
    Best found;
    score(of_rows, Chunk(memory + (policy.resident ? c : buffer) * Chunk::bytes), tiles_of(c), places, found);
#pragma unroll
    for (int s = 0; s < slots; ++s) also(row[s], found.of(s, 8 * chunk * c));
    if constexpr (!policy.resident) {
      wait_for_copies();
      __syncthreads();
      buffer ^= 1;
    }
  }
}

extern "C" __global__ void __launch_bounds__(policy.threads(), policy.blocks)
    assign_scores(ts::cuda::ScoresArguments a) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shift* const shifts = reinterpret_cast<Shift*>(memory + policy.shifts_at());
  LabelWriter writer{a.x,      a.selection, a.sums,
                     a.labels, a.undecided, reinterpret_cast<int*>(memory + policy.sums_at())};
  const int64 count = count_of(a.selection, a.x);
  const uint32 places = a.one << index_bits;
  writer.begin();
  set_shifts(shifts, a);
  for (int c = 0; c < (policy.resident ? chunks : 1); ++c) fetch(memory + c * Chunk::bytes, a, c);
  wait_for_copies();
  __syncthreads();
  const Bound bound =
      bound_of_parts(*a.largest, policy.d, policy.parts, policy.parts == 2 ? 1 : steps, policy.parts == 2 ? steps : 0);
  const int lane = threadIdx.x % 32;
  int buffer = 0;
  for (int64 block = static_cast<int64>(blockIdx.x) * policy.warps * warp_rows; block < count;
       block += static_cast<int64>(gridDim.x) * policy.warps * warp_rows) {
    const int64 first = block + threadIdx.x / 32 * warp_rows;
    int64 mine[words];
    int before[words];
#pragma unroll
    for (int w = 0; w < words; ++w) {
      mine[w] = w * 32 + lane < warp_rows ? writer.row(first + w * 32 + lane, count) : -1;
      if (!paired) before[w] = writer.before(mine[w]);
    }
    Operand of_rows;
    load_operand(a.x, mine, shifts, a.scale, of_rows);
    Row row[slots];
    score_chunks(row, of_rows, a, memory, places, buffer);
#pragma unroll
    for (int w = 0; w < words; ++w) {
      if (first + w * 32 >= count) continue;
      const Row all = collect(row, w);
      const float within = undecided_within(bound, all, a.per_unit);
      if (paired && mine[w] >= 0)
        a.pairs.of_row[mine[w]] = all.third - all.best > within ? Pair{all.label, all.other} : Pair{-1, -1};
      if (paired) before[w] = writer.before(mine[w]);  // not earlier: registers are few
      writer.write<mark_bits>(first + w * 32, mine[w], before[w], all.label, all.second - all.best > within);
    }
  }
  writer.end(a.counts);
}
