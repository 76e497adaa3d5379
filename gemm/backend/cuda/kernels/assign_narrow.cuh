// As assign_scores, for few columns and centroids: a lane scores whole rows in float32, TS_ROWS at a time, against groups of four
// centroids that all lanes read together. TS_D: columns; TS_GROUPS: of four centroids; TS_WIDE, TS_COUNT, TS_ALIGN, TS_ON_CHIP,
// TS_WARPS, TS_BLOCKS.
#define TS_CLUSTERS (8 * ((TS_GROUPS + 1) / 2))
#include "assign_settle.cuh"

constexpr int rows_of_a_lane = TS_ROWS, warp_rows = 32 * rows_of_a_lane;
constexpr int index_bits = bits_for(4 * TS_GROUPS);
constexpr uint32 index_mask = (1u << index_bits) - 1;

__device__ __forceinline__ void load_row(const Rows& x, int64 i, Element (&row)[TS_D]) {
  const Piece* const from = reinterpret_cast<const Piece*>(row_of(x, i < x.count ? i : x.count - 1));
#pragma unroll
  for (int p = 0; p < TS_D / TS_COUNT; ++p) {
    const Piece piece = from[p];
#pragma unroll
    for (int e = 0; e < TS_COUNT; ++e) row[p * TS_COUNT + e] = piece.part[e];
  }
}

extern "C" __global__ void __launch_bounds__(32 * TS_WARPS, TS_BLOCKS)
    assign_narrow(Rows x, const float* negated, const float* half_norms, const Largest* largest, const double* shift,
                  double scale, int* labels, uint32* undecided, Sums sums, Stats* stats) {
  extern __shared__ __align__(16) unsigned char memory[];
  // Of each group, column by column, what its four centroids have there, negated; then half their squared norms.
  float4* const centroids = reinterpret_cast<float4*>(memory);
  Shift* const shifts = reinterpret_cast<Shift*>(centroids + TS_GROUPS * (TS_D + 1));
  Settle settle{x, sums, labels, undecided, reinterpret_cast<int*>(shifts + round_up(TS_D, 4))};
  settle.begin();
  for (int e = threadIdx.x; e < TS_GROUPS * (TS_D + 1); e += 32 * TS_WARPS) {
    const int group = e / (TS_D + 1), j = e % (TS_D + 1);
    centroids[e] = reinterpret_cast<const float4*>(j < TS_D ? negated : half_norms)[j < TS_D ? group * TS_D + j : group];
  }
  for (int j = threadIdx.x; j < TS_D; j += 32 * TS_WARPS) shifts[j] = shift_of(shift[j], scale);
  __syncthreads();
  const Margin margin = margin_of_float32(*largest, TS_D, index_bits);
  const int lane = threadIdx.x % 32;
  for (int64 first = (static_cast<int64>(blockIdx.x) * TS_WARPS + threadIdx.x / 32) * warp_rows; first < x.count;
       first += static_cast<int64>(gridDim.x) * TS_WARPS * warp_rows) {
    Element raw[rows_of_a_lane][TS_D];
    int before[rows_of_a_lane];
#pragma unroll
    for (int r = 0; r < rows_of_a_lane; ++r) {
      load_row(x, first + 32 * r + lane, raw[r]);
      before[r] = settle.before(first + 32 * r, 32);
    }
    float v[rows_of_a_lane][TS_D], squared[rows_of_a_lane], best[rows_of_a_lane], second[rows_of_a_lane];
#pragma unroll
    for (int r = 0; r < rows_of_a_lane; ++r) squared[r] = 0, best[r] = second[r] = 3e30f;
#pragma unroll
    for (int j = 0; j < TS_D; ++j) {
      const Shift s = shifts[j];
#pragma unroll
      for (int r = 0; r < rows_of_a_lane; ++r) {
        v[r][j] = centred(raw[r][j], s, scale);
        squared[r] = __fmaf_rn(v[r][j], v[r][j], squared[r]);
      }
    }
#pragma unroll 2
    for (int group = 0; group < TS_GROUPS; ++group) {
      const float4* const c = centroids + group * (TS_D + 1);
      const float4 half = c[TS_D];
      float score[rows_of_a_lane][4];
#pragma unroll
      for (int r = 0; r < rows_of_a_lane; ++r)
        score[r][0] = half.x, score[r][1] = half.y, score[r][2] = half.z, score[r][3] = half.w;
#pragma unroll
      for (int j = 0; j < TS_D; ++j) {
        const float4 four = c[j];
#pragma unroll
        for (int r = 0; r < rows_of_a_lane; ++r) {
          score[r][0] = __fmaf_rn(v[r][j], four.x, score[r][0]);
          score[r][1] = __fmaf_rn(v[r][j], four.y, score[r][1]);
          score[r][2] = __fmaf_rn(v[r][j], four.z, score[r][2]);
          score[r][3] = __fmaf_rn(v[r][j], four.w, score[r][3]);
        }
      }
#pragma unroll
      for (int r = 0; r < rows_of_a_lane; ++r)
#pragma unroll
        for (int m = 0; m < 4; ++m) take(numbered<index_mask>(score[r][m], 4 * group + m), best[r], second[r]);
    }
#pragma unroll
    for (int r = 0; r < rows_of_a_lane; ++r)
      if (first + 32 * r < x.count)
        settle(first + 32 * r, 32, before[r], static_cast<int>(__float_as_uint(best[r]) & index_mask),
               decides(margin, squared[r], best[r], second[r]));
  }
  settle.end(stats);
}
