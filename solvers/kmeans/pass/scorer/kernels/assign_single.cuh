// Scores like assign_scores, with raw rows, neither shifted nor scaled: float16 rows are fragments already, float32
// ones are rounded to float16. The origins of centroids, where sums begin, account for the shift. Rows left undecided
// are scored again. The label of a score is in its key, so that lanes exchange nothing but keys. Four elements are one
// load, and columns are a multiple of four.
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_keys.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_labels.cuh"

constexpr int steps = policy.steps, tiles = policy.tiles, row_tiles = policy.row_tiles, slots = 2 * row_tiles,
              words = slots / 4;
constexpr int warp_rows = policy.warp_rows(), index_bits = bits_for(8 * tiles);
constexpr bool halves_already = sizeof(Element) == 2;
/// Rows of up to 8 columns fill the K of an instruction with copies of themselves, which are multiplied by the lower
/// parts of centroids.
constexpr int quads = policy.quads(), planes = policy.planes(), products = policy.products();
constexpr bool by_norms = policy.parts != 2, low_rows = policy.parts == 3;
static_assert(!low_rows || quads == 4);
constexpr bool in_registers = tiles * (2 * products + 2) <= 16;
constexpr int group = policy.group == 0 ? (tiles % 2 == 0 ? 2 : 1) : policy.group;
static_assert(tiles % group == 0);
constexpr float one_key = static_cast<float>(1 << index_bits);

#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_products.cuh"

/// Bounds of the errors of scores, in units of keys.
struct Errors {
  float units, scaled, by_norm, constant;
  uint32 within;

  /// Twice the error of a score, and one for what numbers add to keys: each instruction truncates 17 terms and
  /// their sum, the largest of which is an origin; origins were rounded; rows, too, or centroids. Norms are of
  /// rounded squares.
  __device__ __forceinline__ explicit Errors(const ts::cuda::ScoresArguments& a)
      : units(a.per_unit), scaled(static_cast<float>(a.scale)) {
    constexpr float u = halves_already ? 0.0f : 0x1p-11f;
    const Largest* const largest = a.largest;
    const Bound of_parts = bound_of_parts(*largest, policy.d, 2, steps, 0);
    const float subnormal = halves_already ? 0.0f : 0x1p-25f * sqrtf(static_cast<float>(policy.d)) * scaled;
    by_norm = units * scaled * one_key *
              (low_rows ? of_parts.by_norm : 2.04f * (1.01f * (largest->rest + largest->low) + u * largest->norm));
    constant = 18 * products + 1 + units * subnormal * largest->norm;
    if (policy.parts == 2) constant += 1.02f * units * a.row_norm * largest->rest;
    if (low_rows) constant = 1 + units * (1 + scaled) * of_parts.constant;
    constant = (2.04f * constant + 1) * one_key;
    within = constant < 0x1p31f ? static_cast<uint32>(constant) + 1 : ~0u;
  }
};

/// All centroids in shared memory, and as much of them as registers hold.
struct Centroids {
  const uint2* factors;
  const float2* starts;
  uint2 factor[in_registers ? tiles : 1][products];
  float2 start[in_registers ? tiles : 1];

  __device__ __forceinline__ Centroids(const uint2* in_memory, const float2* their_starts)
      : factors(in_memory), starts(their_starts) {
    if (in_registers)
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile) {
        start[tile] = starts[4 * tile + threadIdx.x % 32 % 4];
#pragma unroll
        for (int product = 0; product < products; ++product)
          factor[tile][product] = factors[(tile * products + product) * 32 + threadIdx.x % 32];
      }
  }
};

/// The two least keys of each slot.
__device__ __forceinline__ void score(Two (&found)[slots], const Operand& rows, const Centroids& of, uint32 places) {
  const int lane = threadIdx.x % 32, t = lane % 4;
#pragma unroll
  for (int s = 0; s < slots; ++s) found[s] = {~0u, ~0u};
#pragma unroll(in_registers ? tiles / group : 1)
  for (int begin = 0; begin < tiles; begin += group) {
    uint32 keys[slots][2 * group];
#pragma unroll
    for (int g = 0; g < group; ++g) {
      const int tile = begin + g;
      const float2 from = in_registers ? of.start[in_registers ? tile : 0] : of.starts[4 * tile + t];
      uint2 b[products];
#pragma unroll
      for (int product = 0; product < products; ++product)
        b[product] = in_registers ? of.factor[in_registers ? tile : 0][product]
                                  : of.factors[(tile * products + product) * 32 + lane];
      float score[row_tiles][4], begins[row_tiles][4];
#pragma unroll
      for (int i = 0; i < 4 * row_tiles; ++i) begins[i / 4][i % 4] = i % 2 == 0 ? from.x : from.y;
      score_tile(score, rows, b, begins);
#pragma unroll
      for (int s = 0; s < slots; ++s)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          keys[s][2 * g + e] = key_of(score[s / 2][s % 2 * 2 + e], places, 8 * tile + 2 * t + e);
    }
#pragma unroll
    for (int s = 0; s < slots; ++s) take_group(keys[s], in_registers ? begin == 0 : tiles == group, found[s]);
  }
}

/// Labels of a warp's rows, and marks of those that are not certain.
struct Found {
  uint32 marks[words];
  int label[words];
  bool moves[words], any = false;
};
__device__ __forceinline__ void decide(Found& rows, const Two (&found)[slots], const uint32 (&squared)[slots],
                                       const int (&before)[words], int first, int count, const float2& kept,
                                       const Errors& by) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int w = 0; w < words; ++w) {
    const Two two = collect_four(found + 4 * w);
    const uint32 gap = two.second - two.best;
    bool certain = policy.fast || gap > by.within;
    if (by_norms && !policy.fast) {
      const float2 bound = in_registers ? float2{by.by_norm, by.constant} : kept;
      certain = static_cast<float>(gap) > __fmaf_rn(bound.x, norm_of_halves(collect_four(squared + 4 * w)), bound.y);
    }
    const bool real = first + 32 * w + lane < count;
    rows.label[w] = static_cast<int>(two.best & ((1u << index_bits) - 1));
    rows.marks[w] = __ballot_sync(everyone, real && !certain);
    rows.moves[w] = real && certain && rows.label[w] != before[w];
    rows.any = rows.any || rows.moves[w];
  }
}

/// Copies centroids to shared memory, by all threads; a barrier must follow.
__device__ __forceinline__ void put_centroids(uint2* factors, float2* starts, const void* fragments,
                                              const float* origins) {
  for (int e = threadIdx.x; e < tiles * products * 32; e += policy.threads())
    factors[e] = factor_of(static_cast<const uint2*>(fragments), e / 32 / products, e / 32 % products, e % 32);
  for (int e = threadIdx.x; e < 4 * tiles; e += policy.threads())
    starts[e] = reinterpret_cast<const float2*>(origins)[e];
}

/// Marks undecided rows, and moves others.
__device__ __forceinline__ void write_rows(LabelWriter& writer, const Found& rows, const int (&before)[words],
                                           int first) {
  const int lane = threadIdx.x % 32;
  if (lane == 0) {
    if (words == 2)
      *reinterpret_cast<uint2*>(writer.undecided + first / 32) = {rows.marks[0], rows.marks[words - 1]};
    else
      writer.undecided[first / 32] = rows.marks[0];
  }
  if (__any_sync(everyone, rows.any))
#pragma unroll 1
    for (int w = 0; w < words; ++w)
      writer.move(first + 32 * w + lane, w == 0 ? before[0] : before[words - 1],
                  w == 0 ? rows.label[0] : rows.label[words - 1], w == 0 ? rows.moves[0] : rows.moves[words - 1]);
}

extern "C" __global__ void __launch_bounds__(policy.threads(), policy.blocks)
    assign_single(ts::cuda::ScoresArguments a) {
  const Rows& x = a.x;
  const uint32 places = a.one << index_bits;
  extern __shared__ __align__(16) unsigned char memory[];
  uint2* const factors = reinterpret_cast<uint2*>(memory);
  float2* const starts = reinterpret_cast<float2*>(memory + policy.factor_bytes());
  const Selection everything{};
  LabelWriter writer{x, everything, a.sums, a.labels, a.undecided, reinterpret_cast<int*>(memory + policy.sums_at())};
  writer.begin();
  put_centroids(factors, starts, a.centroids, a.origins);
  __syncthreads();
  const Errors errors(a);
  __shared__ float2 kept;  // both errors, where scores take all registers
  if (by_norms && !in_registers) {
    if (threadIdx.x == 0) kept = {errors.by_norm, errors.constant};
    __syncthreads();
  }
  const Centroids centroids(factors, starts);

  const int count = static_cast<int>(x.count), stride = static_cast<int>(gridDim.x) * policy.warps * warp_rows;
  int first = (static_cast<int>(blockIdx.x) * policy.warps + static_cast<int>(threadIdx.x) / 32) * warp_rows;
  Raw raw;
  if (policy.ahead) raw.load(x, a.labels, first, count);
  for (; first < count; first += stride) {
    if (!policy.ahead) raw.load(x, a.labels, first, count);
    int before[words];
#pragma unroll
    for (int w = 0; w < words; ++w) before[w] = raw.before[w];
    const Operand rows(raw);
    if (policy.ahead) raw.load(x, a.labels, first + stride, count);
    Found of_rows;
    Two found[slots];
    score(found, rows, centroids, places);
    decide(of_rows, found, rows.squared, before, first, count, kept, errors);
    write_rows(writer, of_rows, before, first);
  }
  writer.end(a.counts);
}
