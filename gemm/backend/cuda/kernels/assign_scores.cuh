// Labels of the rows whose scores ||c||^2 / 2 - x c decide them, by tensor instructions with float16 parts; marks of the
// others, which assign_decide decides. One pass over the rows, straight from memory into registers: the lanes of a quad share
// a row, a warp has 16 TS_MT of them, and all centroids stay in shared memory. Scores never leave registers: each lane keeps the
// best and the second best of its columns, whose number the lowest bits of a score carry.
// TS_D: columns; TS_STEPS: steps of 16 columns; TS_TILES: groups of 8 centroids; TS_MT: tiles of 16 rows; TS_PARTS: of each
// number, 1 or 2; TS_WIDE: shift in float64; TS_COUNT: elements of one load, TS_ALIGN: its alignment; TS_WARPS, TS_BLOCKS.
#define TS_CLUSTERS (8 * TS_TILES)
#include "assign_settle.cuh"

constexpr int steps = TS_STEPS, tiles = TS_TILES, row_tiles = TS_MT, slots = 2 * row_tiles;
constexpr int warp_rows = 16 * row_tiles, words = (slots + 3) / 4;
constexpr int registers_of_a_step = slots * sizeof(Element), registers_for_loads = 32;
constexpr int steps_at_once = registers_of_a_step * steps <= registers_for_loads ? steps
                              : registers_of_a_step >= registers_for_loads       ? 1
                                                                                 : registers_for_loads / registers_of_a_step;
constexpr int index_bits = bits_for(8 * tiles);
constexpr uint32 index_mask = (1u << index_bits) - 1;

/// The parts of a lane's B fragment: two registers for each.
struct alignas(8 * TS_PARTS) Parts {
  uint32 part[TS_PARTS][2];
};

/// c += a b
__device__ __forceinline__ void multiply(float (&c)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// Two float16 in a register, `low` in the lower half.
__device__ __forceinline__ uint32 halves(float low, float high) {
  uint32 both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float lower_half(uint32 both) {
  return widen(Half{static_cast<unsigned short>(both)});
}
__device__ __forceinline__ float upper_half(uint32 both) {
  return widen(Half{static_cast<unsigned short>(both >> 16)});
}

/// The columns 16 step + 4 t .. + 3 of a row, zeros beyond the last.
__device__ __forceinline__ void load_four(const Element* row, int column, Element (&out)[4]) {
#pragma unroll
  for (int p = 0; p < 4; p += TS_COUNT) {
    Piece piece{};
    if (TS_D % 16 == 0 || column + p < TS_D) piece = *reinterpret_cast<const Piece*>(row + column + p);
#pragma unroll
    for (int e = 0; e < TS_COUNT; ++e) out[p + e] = piece.part[e];
  }
}

/// What a block keeps in shared memory.
struct Shared {
  Parts* fragments;    // steps x 32 for each tile
  float2* half_norms;  // of columns 2t, 2t + 1: 4 for each tile
  Shift* shift;        // of 16 columns for each step
};

/// The fragments of the tile's rows, and the squared norms of a lane's columns of them.
struct Operand {
  uint32 part[TS_PARTS][row_tiles][steps][4];
  float squared[slots];
};

__device__ __forceinline__ void load_operand(const Rows& x, int64 first, const Shared& shared, double scale, Operand& a) {
  const int lane = threadIdx.x % 32, t = lane % 4;
  int64 rows[slots];
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    // Slot s of quad g is the row 4g + s % 4 of 32: the lane 4g + s % 4 will answer for it.
    const int64 row = first + (row_tiles == 1 ? lane / 4 * 2 + s : s / 4 * 32 + lane / 4 * 4 + s % 4);
    rows[s] = row < x.count ? row : x.count - 1;
    a.squared[s] = 0;
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
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          v[e] = centred(raw[step - begin][s][e], shared.shift[column + e], scale);
          if (TS_D % 16 != 0 && column + e >= TS_D) v[e] = 0;
          a.squared[s] = __fmaf_rn(v[e], v[e], a.squared[s]);
        }
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
          const uint32 high = halves(v[2 * pair], v[2 * pair + 1]);
          a.part[0][s / 2][step][2 * pair + s % 2] = high;
#if TS_PARTS == 2
          a.part[1][s / 2][step][2 * pair + s % 2] =
              halves(v[2 * pair] - lower_half(high), v[2 * pair + 1] - upper_half(high));
#endif
        }
      }
    }
  }
}

/// The best two scores of a lane's columns for each slot.
struct BestTwo {
  float best[slots], second[slots];
};

__device__ __forceinline__ void score(const Operand& a, const Shared& shared, BestTwo& found) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int s = 0; s < slots; ++s) found.best[s] = found.second[s] = 3e30f;
#pragma unroll 2
  for (int tile = 0; tile < tiles; ++tile) {
    const float2 half_norms = shared.half_norms[4 * tile + lane % 4];
    const uint32 number = 8 * tile + lane % 4 * 2;
    float c[row_tiles][4];
#pragma unroll
    for (int r = 0; r < row_tiles; ++r) c[r][0] = c[r][2] = half_norms.x, c[r][1] = c[r][3] = half_norms.y;
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const Parts b = shared.fragments[(tile * steps + step) * 32 + lane];
#pragma unroll
      for (int r = 0; r < row_tiles; ++r) multiply(c[r], a.part[0][r][step], b.part[0]);
#if TS_PARTS == 2
#pragma unroll
      for (int r = 0; r < row_tiles; ++r) multiply(c[r], a.part[0][r][step], b.part[1]);
#pragma unroll
      for (int r = 0; r < row_tiles; ++r) multiply(c[r], a.part[1][r][step], b.part[0]);
#endif
    }
#pragma unroll
    for (int r = 0; r < row_tiles; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int s = 2 * r + e / 2;
        take(numbered<index_mask>(c[r][e], number + e % 2), found.best[s], found.second[s]);
      }
  }
}

/// What a lane knows of a row.
struct Row {
  float best, second, squared;
};
__device__ __forceinline__ Row select(bool first, const Row& a, const Row& b) {
  return {first ? a.best : b.best, first ? a.second : b.second, first ? a.squared : b.squared};
}
/// `mine`, and what the lane that differs in `bit` knows of the same row and sends as its `sent`.
__device__ __forceinline__ Row merge(const Row& mine, const Row& sent, int bit) {
  const float best = __shfl_xor_sync(everyone, sent.best, bit), second = __shfl_xor_sync(everyone, sent.second, bit);
  return {fminf(mine.best, best), fminf(fminf(mine.second, second), fmaxf(mine.best, best)),
          mine.squared + __shfl_xor_sync(everyone, sent.squared, bit)};
}

/// Of the slots 4 word .. 4 word + 3, all that a quad knows of slot t, to its lane t; of two slots, to the lanes 0 .. 15.
__device__ __forceinline__ Row collect(const Operand& a, const BestTwo& found, int word) {
  const int lane = threadIdx.x % 32;
  Row row[4];
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const int s = 4 * word + q < slots ? 4 * word + q : 0;
    row[q] = {found.best[s], found.second[s], a.squared[s]};
  }
#if TS_MT == 1
  const Row zero = merge(row[0], row[0], 2), one = merge(row[1], row[1], 2);
#else
  const bool upper = (lane & 2) != 0;
  const Row zero = merge(select(upper, row[2], row[0]), select(upper, row[0], row[2]), 2);
  const Row one = merge(select(upper, row[3], row[1]), select(upper, row[1], row[3]), 2);
#endif
  const bool odd = (lane & 1) != 0;
  Row mine = merge(select(odd, one, zero), select(odd, zero, one), 1);
#if TS_MT == 1
  const int from = lane / 2 * 4 % 32 + lane % 2;
  mine = {__shfl_sync(everyone, mine.best, from), __shfl_sync(everyone, mine.second, from),
          __shfl_sync(everyone, mine.squared, from)};
#endif
  return mine;
}

extern "C" __global__ void __launch_bounds__(32 * TS_WARPS, TS_BLOCKS)
    assign_scores(Rows x, const Parts* fragments, const float* half_norms, const Largest* largest, const double* shift,
                  double scale, int* labels, uint32* undecided, Sums sums, Stats* stats) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared shared;
  shared.fragments = reinterpret_cast<Parts*>(memory);
  shared.half_norms = reinterpret_cast<float2*>(shared.fragments + tiles * steps * 32);
  shared.shift = reinterpret_cast<Shift*>(shared.half_norms + tiles * 4);
  Settle settle{x, sums, labels, undecided, reinterpret_cast<int*>(shared.shift + 16 * steps)};
  settle.begin();
  for (int e = threadIdx.x; e < tiles * steps * 32; e += 32 * TS_WARPS)
#pragma unroll
    for (int part = 0; part < TS_PARTS; ++part) {
      const uint2 both = reinterpret_cast<const uint2*>(fragments)[2 * e + part];
      shared.fragments[e].part[part][0] = both.x, shared.fragments[e].part[part][1] = both.y;
    }
  for (int e = threadIdx.x; e < tiles * 8; e += 32 * TS_WARPS)
    reinterpret_cast<float*>(shared.half_norms)[e] = half_norms[e];
  for (int j = threadIdx.x; j < 16 * steps; j += 32 * TS_WARPS)
    shared.shift[j] = shift_of(j < TS_D ? shift[j] : 0, scale);
  __syncthreads();
  const Margin margin = margin_of(*largest, TS_D, TS_PARTS, steps, index_bits);
  for (int64 first = (static_cast<int64>(blockIdx.x) * TS_WARPS + threadIdx.x / 32) * warp_rows; first < x.count;
       first += static_cast<int64>(gridDim.x) * TS_WARPS * warp_rows) {
    int before[words];
#pragma unroll
    for (int w = 0; w < words; ++w) before[w] = settle.before(first + w * 32, warp_rows);
    Operand a;
    load_operand(x, first, shared, scale, a);
    BestTwo found;
    score(a, shared, found);
#pragma unroll
    for (int w = 0; w < words; ++w) {
      const Row mine = collect(a, found, w);
      settle(first + w * 32, warp_rows, before[w], static_cast<int>(__float_as_uint(mine.best) & index_mask),
             decides(margin, mine.squared, mine.best, mine.second));
    }
  }
  settle.end(stats);
}
