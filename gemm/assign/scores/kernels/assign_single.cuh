// As assign_scores, with rows as they are, neither shifted nor scaled: float16 rows are fragments already, of float32 ones the
// nearest float16 numbers. What the shift would do is in the origins of centroids, where sums begin. What that leaves open is
// scored again. The label of a score is in its key, so that keys are all that lanes exchange.
// TS_D: columns; TS_STEPS: steps of 16 columns; TS_TILES: groups of 8 centroids, which all stay in shared memory; TS_PARTS: of
// centroids, 1 or 2 (for float16 rows only), or 3: both of rows and centroids, three products that start from zero; TS_MT: tiles of
// 16 rows, 2 or 4; TS_PACKED: nothing lies between rows; TS_AHEAD: the next rows come into registers meanwhile; TS_GROUP: tiles whose
// scores are looked at together, 0: pair by pair; TS_CONFIRM: only whether rows keep their labels is found (assign_confirm.cuh);
// TS_ON_CHIP, TS_WARPS, TS_BLOCKS. Four elements are one load, and columns are a multiple of four.
#define TS_CLUSTERS (8 * TS_TILES)
#include "tallskinny/gemm/assign/scores/kernels/assign_confirm.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_settle.cuh"

constexpr int steps = TS_STEPS, tiles = TS_TILES, row_tiles = TS_MT, slots = 2 * row_tiles, words = slots / 4;
constexpr int warp_rows = 16 * row_tiles, index_bits = bits_for(8 * tiles);
constexpr bool halves_already = sizeof(Element) == 2;
/// Rows of up to 8 columns fill the K of an instruction with copies of themselves, which meet the lower parts of centroids.
constexpr int quads = TS_D <= 4 ? 1 : TS_D <= 8 ? 2 : 4, planes = TS_PARTS == 1 ? 1 : 2;
constexpr int products = quads == 4 ? planes * steps : 1;
constexpr bool by_norms = TS_PARTS != 2, norms = by_norms || TS_MARGIN, low_rows = TS_PARTS == 3;
static_assert(!low_rows || quads == 4);
constexpr bool in_registers = tiles * (2 * products + 2) <= 16;
constexpr int group = TS_GROUP == 0 ? (tiles % 2 == 0 ? 2 : 1) : TS_GROUP;
static_assert(tiles % group == 0);

/// a a + c of two halves each.
__device__ __forceinline__ uint32 square_add(uint32 a, uint32 c) {
  uint32 d;
  asm("fma.rn.f16x2 %0, %1, %1, %2;" : "=r"(d) : "r"(a), "r"(c));
  return d;
}
__device__ __forceinline__ uint32 add_halves(uint32 a, uint32 b) {
  uint32 d;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
/// Four elements of a row, and as float16 numbers.
#if TS_TYPE == 4
using Four = uint2;
__device__ __forceinline__ uint2 halves_of(Four x) {
  return x;
}
__device__ __forceinline__ uint2 rest_of(Four, uint2) {
  return {};
}
#else
using Four = float4;
__device__ __forceinline__ uint2 halves_of(Four x) {
  return {halves(x.x, x.y), halves(x.z, x.w)};
}
/// What these leave of them.
__device__ __forceinline__ uint2 rest_of(Four x, uint2 both) {
  return {halves(x.x - lower_half(both.x), x.y - upper_half(both.x)),
          halves(x.z - lower_half(both.y), x.w - upper_half(both.y))};
}
#endif

/// The four columns of each step that belong to the lane, of its slots; and the labels of its rows so far.
struct Raw {
  Four part[steps][slots];
  int before[words];

  template <bool Whole>
  __device__ __forceinline__ void load(const Rows& x, const int* labels, int first, int count) {
    const int lane = threadIdx.x % 32, column = lane % quads * 4;
    const int64 stride = TS_PACKED ? TS_D : x.row_stride;
    const Element* const from = static_cast<const Element*>(x.data) + (first + (lane & 28)) * stride + column;
#pragma unroll
    for (int w = 0; w < words; ++w)
      before[w] = Whole || first + 32 * w + lane < count ? labels[first + 32 * w + lane] : -1;
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      int64 at = s / 4 * 32 + s % 4;
      if (!Whole && first + (lane & 28) + at >= count) at = count - 1 - first - (lane & 28);
#pragma unroll
      for (int step = 0; step < steps; ++step)
        part[step][s] = TS_D % (4 * quads) == 0 || 16 * step + column < TS_D
                            ? *reinterpret_cast<const Four*>(from + at * stride + 16 * step)
                            : Four{};
    }
  }
  __device__ __forceinline__ void load(const Rows& x, const int* labels, int first, int count) {
    if (first + warp_rows <= count)
      load<true>(x, labels, first, count);
    else if (first < count)
      load<false>(x, labels, first, count);
  }
};

/// The two least keys of a lane's columns for a slot.
struct Two {
  uint32 best, second;
};
__device__ __forceinline__ Two select(bool first, Two a, Two b) {
  return {first ? a.best : b.best, first ? a.second : b.second};
}
__device__ __forceinline__ Two merge(Two mine, Two sent, int bit) {
  const uint32 best = __shfl_xor_sync(everyone, sent.best, bit),
               second = __shfl_xor_sync(everyone, sent.second, bit);
  return {min(mine.best, best), __vimin3_u32(mine.second, second, max(mine.best, best))};
}
__device__ __forceinline__ uint32 merge(uint32 mine, uint32 sent, int bit) {
  return add_halves(mine, __shfl_xor_sync(everyone, sent, bit));
}
__device__ __forceinline__ uint32 select(bool first, uint32 a, uint32 b) {
  return first ? a : b;
}
/// Of four slots what all lanes of a quad know of slot t, to its lane t.
template <class T>
__device__ __forceinline__ T collect(const T* of) {
  const int lane = threadIdx.x % 32;
  const bool upper = (lane & 2) != 0, odd = (lane & 1) != 0;
  const T zero = merge(select(upper, of[2], of[0]), select(upper, of[0], of[2]), 2);
  const T one = merge(select(upper, of[3], of[1]), select(upper, of[1], of[3]), 2);
  return merge(select(odd, one, zero), select(odd, zero, one), 1);
}

/// The two least of these, unless they are the first, and of keys, all of which differ.
template <int Keys>
__device__ __forceinline__ void take_group(const uint32 (&key)[Keys], bool first, Two& found) {
#if TS_GROUP == 0
  if (first) found = {min(key[0], key[1]), max(key[0], key[1])};
#pragma unroll
  for (int i = 0; i < Keys; i += 2)
    if (i > 0 || !first) take(key[i], key[i + 1], found.best, found.second);
#else
  take_all(key, first, found.best, found.second);
#endif
}

/// The columns of B that a lane has of a tile, for one of its products: steps of upper parts, then of lower ones.
__device__ __forceinline__ uint2 factor_of(const uint2* fragments, int tile, int product, int lane) {
  constexpr int plane = tiles * steps * 32;
  if (quads == 4) return fragments[product / steps * plane + (tile * steps + product % steps) * 32 + lane];
  const int copy = lane % 4 / quads;
  return copy < planes ? fragments[copy * plane + tile * 32 + lane - copy * quads] : uint2{0, 0};
}

/// score = the scores of all tiles of rows and a tile of 8 centroids, of which a lane has these columns, and whose sums begin with `begins`,
/// or zero where rows have lower parts.
__device__ __forceinline__ void score_tile(float (&score)[row_tiles][4],
                                           const uint32 (&a)[row_tiles][steps][4],
                                           const uint32 (&low)[row_tiles][steps][4],
                                           const uint2 (&b)[products], const float (&begins)[row_tiles][4]) {
  constexpr float zero[4] = {};
  if (low_rows) {  // first what is small, since instructions truncate
#pragma unroll
    for (int product = 0; product < products; ++product)
#pragma unroll
      for (int r = 0; r < row_tiles; ++r)
        if (product == 0)
          multiply(score[r], low[r][0], b[0], zero);
        else if (product < steps)
          multiply(score[r], low[r][product % steps], b[product], score[r]);
        else
          multiply(score[r], a[r][product % steps], b[product], score[r]);
  }
#pragma unroll
  for (int product = 0; product < (low_rows ? steps : products); ++product)
#pragma unroll
    for (int r = 0; r < row_tiles; ++r)
      if (product == 0 && !low_rows)
        multiply(score[r], a[r][0], b[0], begins[r]);
      else
        multiply(score[r], a[r][product % steps], b[product], score[r]);
  if (low_rows)
#pragma unroll
    for (int i = 0; i < 4 * row_tiles; ++i) score[i / 4][i % 4] += begins[i / 4][i % 4];
}

/// The norm of a row, rounded up, from the sum of its squares in two halves. Each sum of halves lost at most one part in 2^11, or 2^-25;
/// copies count more than once.
__device__ __forceinline__ float norm_of_halves(uint32 sums_of_squares) {
  const float squared =
      (lower_half(sums_of_squares) + upper_half(sums_of_squares)) * (1 + (steps + 2) * 0x1p-9f) +
      (steps + 2) * 0x1p-20f;
  float norm;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(norm) : "f"(squared));
  return norm * 1.0001f;
}

/// `own` is not yet less its origin, and the norm that of a row which was not shifted; both scaled.
__device__ __forceinline__ float margin_of_row(const Margin& margin, float own, float error, float norm) {
  return margin_of_scores(margin, own - 0x1.8p23f * margin.unit, error, norm + margin.offset);
}

#if TS_CONFIRM
/// The scores that rows have with the centroids of their labels, of which a quad has that of its own row in each slot: a tile of 8 rows
/// meets a tile of their 8 centroids, and its diagonal is what is wanted.
__device__ __forceinline__ void own_scores(float (&own)[slots], const int (&label)[slots],
                                           const uint32 (&a)[row_tiles][steps][4],
                                           const uint32 (&low)[row_tiles][steps][4], const uint2* factors,
                                           const float* starts) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float mine[row_tiles];
#pragma unroll
    for (int r = 0; r < row_tiles; ++r) {
      const int m = known(label[2 * r + h]);
      uint2 b[products];
#pragma unroll
      for (int product = 0; product < products; ++product)
        b[product] = factors[(m / 8 * products + product) * 32 + m % 8 * 4 + lane % 4];
      const float start = starts[m];
      float score[row_tiles][4], begins[row_tiles][4];
#pragma unroll
      for (int i = 0; i < 4 * row_tiles; ++i) begins[i / 4][i % 4] = start;
      score_tile(score, a, low, b, begins);
      mine[r] = lane / 4 % 2 == 0 ? score[r][2 * h] : score[r][2 * h + 1];
    }
#pragma unroll
    for (int r = 0; r < row_tiles; ++r)
      own[2 * r + h] = __shfl_sync(everyone, mine[r], (lane & 28) + lane / 8);
  }
}
#endif

extern "C" __global__ void __launch_bounds__(32 * TS_WARPS, TS_BLOCKS)
    assign_single(Rows x, const unsigned char* fragments, const float* origins, float units, float reach,
                  uint32 one, const Largest* largest, double scale, int* labels, uint32* undecided,
                  Margin margin, Sums sums, Stats* stats) {
  const uint32 places = one << index_bits;
  extern __shared__ __align__(16) unsigned char memory[];
  uint2* const factors = reinterpret_cast<uint2*>(memory);
  float2* const starts = reinterpret_cast<float2*>(factors + tiles * products * 32);
  const Selection everything{};
  Settle settle{x, everything, sums, labels, undecided, reinterpret_cast<int*>(starts + 4 * tiles)};
  settle.begin();
  for (int e = threadIdx.x; e < tiles * products * 32; e += 32 * TS_WARPS)
    factors[e] =
        factor_of(reinterpret_cast<const uint2*>(fragments), e / 32 / products, e / 32 % products, e % 32);
  for (int e = threadIdx.x; e < 4 * tiles; e += 32 * TS_WARPS)
    starts[e] = reinterpret_cast<const float2*>(origins)[e];
  __syncthreads();
  const int lane = threadIdx.x % 32, t = lane % 4;

  // Twice the error of a score, in units of keys, and one for what numbers add to them: each instruction truncates 17 terms and
  // their sum, the largest of which is an origin; origins were rounded; rows, too, or centroids. Norms are of rounded squares.
  constexpr float u = halves_already ? 0.0f : 0x1p-11f;
  const Bound of_parts = bound_of_parts(*largest, TS_D, 2, steps, 0);
  constexpr float one_key = static_cast<float>(1 << index_bits);
  const float scaled = static_cast<float>(scale);
  const float subnormal = halves_already ? 0.0f : 0x1p-25f * sqrtf(static_cast<float>(TS_D)) * scaled;
  const float by_norm =
      units * scaled * one_key *
      (low_rows ? of_parts.by_norm : 2.04f * (1.01f * (largest->rest + largest->low) + u * largest->norm));
  float constant = 18 * products + 1 + units * subnormal * largest->norm;
  if (TS_PARTS == 2) constant += 1.02f * units * reach * largest->rest;
  if (low_rows) constant = 1 + units * (1 + scaled) * of_parts.constant;
  constant = (2.04f * constant + 1) * one_key;
  const uint32 open = constant < 0x1p31f ? static_cast<uint32>(constant) + 1 : ~0u;
  __shared__ float2
      kept;  // both, where scores take all registers; of scores, not of keys, where labels are confirmed
  if (TS_CONFIRM || (by_norms && !in_registers)) {
    const float unit = TS_CONFIRM ? 1 / (units * scaled * one_key) : 1;
    if (threadIdx.x == 0) kept = {by_norm * unit, constant * unit};
    __syncthreads();
  }

  uint2 factor[in_registers ? tiles : 1][products];
  float2 start[in_registers ? tiles : 1];
  if (in_registers && !TS_CONFIRM)
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      start[tile] = starts[4 * tile + t];
#pragma unroll
      for (int product = 0; product < products; ++product)
        factor[tile][product] = factors[(tile * products + product) * 32 + lane];
    }

  const int count = static_cast<int>(x.count), stride = static_cast<int>(gridDim.x) * TS_WARPS * warp_rows;
  int first = (static_cast<int>(blockIdx.x) * TS_WARPS + static_cast<int>(threadIdx.x) / 32) * warp_rows;
  Raw raw;
  if (TS_AHEAD) raw.load(x, labels, first, count);
  for (; first < count; first += stride) {
    if (!TS_AHEAD) raw.load(x, labels, first, count);
    uint32 a[row_tiles][steps][4], low[row_tiles][steps][4];
    uint32 squared[slots] = {};
    int before[words];
#pragma unroll
    for (int w = 0; w < words; ++w) before[w] = raw.before[w];
#pragma unroll
    for (int s = 0; s < slots; ++s)
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        const uint2 both = halves_of(raw.part[step][s]);
        a[s / 2][step][s % 2] = both.x, a[s / 2][step][2 + s % 2] = both.y;
        if (low_rows) {
          const uint2 rest = rest_of(raw.part[step][s], both);
          low[s / 2][step][s % 2] = rest.x, low[s / 2][step][2 + s % 2] = rest.y;
        }
        if (norms) squared[s] = square_add(both.y, square_add(both.x, squared[s]));
      }
    if (TS_AHEAD) raw.load(x, labels, first + stride, count);

    uint32 marks[words];
#if TS_CONFIRM
    int label[slots];
    float limit[slots];
#pragma unroll
    for (int s = 0; s < slots; ++s) label[s] = __shfl_sync(everyone, before[s / 4], (lane & 28) + s % 4);
    own_scores(limit, label, a, low, factors, reinterpret_cast<const float*>(starts));
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      // Sums that begin near zero lose no more than those that begin with an origin, of which twice the error is in the bound.
      uint32 norm = squared[s];
      norm = add_halves(norm, __shfl_xor_sync(everyone, norm, 1));
      norm = add_halves(norm, __shfl_xor_sync(everyone, norm, 2));
      const auto beyond = [&](float bound) {
        if (TS_MARGIN)
          bound += margin_of_row(margin, limit[s] * scaled, bound * scaled, norm_of_halves(norm) * scaled) /
                   scaled;
        return limit[s] + bound;
      };
      limit[s] = known(label[s]) == label[s]
                     ? beyond(by_norms ? __fmaf_rn(kept.x, norm_of_halves(norm), kept.y) : kept.y)
                     : 3e30f;
    }
    Below below[slots] = {};
    constexpr int stretch = 8;  // tiles
#pragma unroll 1
    for (int begin = 0; begin < tiles; begin += stretch) {
#pragma unroll 4
      for (int tile = begin; tile < min(begin + stretch, tiles); ++tile) {
        const float2 from = starts[4 * tile + t];
        uint2 b[products];
#pragma unroll
        for (int product = 0; product < products; ++product)
          b[product] = factors[(tile * products + product) * 32 + lane];
        float score[row_tiles][4], begins[row_tiles][4];
#pragma unroll
        for (int i = 0; i < 4 * row_tiles; ++i)
          begins[i / 4][i % 4] = (i % 2 == 0 ? from.x : from.y) - limit[i / 2];
        score_tile(score, a, low, b, begins);
#pragma unroll
        for (int s = 0; s < slots; ++s) below[s].add(score[s / 2][s % 2 * 2], score[s / 2][s % 2 * 2 + 1]);
      }
#pragma unroll
      for (int s = 0; s < slots; ++s) below[s].end_stretch();
    }
    const uint32 kept_labels = with_only_one(below);
#pragma unroll
    for (int w = 0; w < words; ++w)
      marks[w] =
          __ballot_sync(everyone, first + 32 * w + lane < count && (kept_labels >> (4 * w + t) & 1) == 0);
#else
    Two found[slots];
#pragma unroll
    for (int s = 0; s < slots; ++s) found[s] = {~0u, ~0u};
#pragma unroll(in_registers ? tiles / group : 1)
    for (int begin = 0; begin < tiles; begin += group) {
      uint32 keys[slots][2 * group];
#pragma unroll
      for (int g = 0; g < group; ++g) {
        const int tile = begin + g;
        const float2 from = in_registers ? start[in_registers ? tile : 0] : starts[4 * tile + t];
        uint2 b[products];
#pragma unroll
        for (int product = 0; product < products; ++product)
          b[product] = in_registers ? factor[in_registers ? tile : 0][product]
                                    : factors[(tile * products + product) * 32 + lane];
        float score[row_tiles][4], begins[row_tiles][4];
#pragma unroll
        for (int i = 0; i < 4 * row_tiles; ++i) begins[i / 4][i % 4] = i % 2 == 0 ? from.x : from.y;
        score_tile(score, a, low, b, begins);
#pragma unroll
        for (int s = 0; s < slots; ++s)
#pragma unroll
          for (int e = 0; e < 2; ++e)
            keys[s][2 * g + e] = key_of(score[s / 2][s % 2 * 2 + e], places, 8 * tile + 2 * t + e);
      }
#pragma unroll
      for (int s = 0; s < slots; ++s)
        take_group(keys[s], in_registers ? begin == 0 : tiles == group, found[s]);
    }

    int label[words];
    bool moves[words], any = false;
#pragma unroll
    for (int w = 0; w < words; ++w) {
      const Two two = collect(found + 4 * w);
      const uint32 gap = two.second - two.best;
      bool certain = TS_FAST || gap > open;
      if (norms && !TS_FAST) {
        const float2 bound = !by_norms      ? float2{0, constant}
                             : in_registers ? float2{by_norm, constant}
                                            : kept;
        const float norm = norm_of_halves(collect(squared + 4 * w));
        float beyond = __fmaf_rn(bound.x, norm, bound.y);
        if (TS_MARGIN) {
          const float key = margin.unit / one_key,
                      own = static_cast<float>((two.best >> index_bits & 0x7fffff) + 0x800000) * margin.unit;
          beyond += units * one_key * margin_of_row(margin, own, beyond * key, norm * scaled);
        }
        certain = static_cast<float>(gap) > beyond;
      }
      const bool real = first + 32 * w + lane < count;
      label[w] = static_cast<int>(two.best & ((1u << index_bits) - 1));
      marks[w] = __ballot_sync(everyone, real && !certain);
      moves[w] = real && certain && label[w] != before[w];
      any = any || moves[w];
    }
#endif
    if (lane == 0) {
      if (words == 2)
        *reinterpret_cast<uint2*>(undecided + first / 32) = {marks[0], marks[words - 1]};
      else
        undecided[first / 32] = marks[0];
    }
#if !TS_CONFIRM
    if (__any_sync(everyone, any))
#pragma unroll 1
      for (int w = 0; w < words; ++w)
        settle.move(first + 32 * w + lane, w == 0 ? before[0] : before[words - 1],
                    w == 0 ? label[0] : label[words - 1], w == 0 ? moves[0] : moves[words - 1]);
#endif
  }
  settle.end(stats);
}
