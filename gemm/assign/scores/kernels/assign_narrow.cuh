// As assign_scores, for few columns and centroids: a lane scores whole rows in float32, TS_ROWS at a time, against groups of four
// centroids that all lanes read together. TS_D: columns; TS_GROUPS: of four centroids; TS_WIDE, TS_COUNT, TS_ALIGN, TS_ON_CHIP,
// TS_MARGIN, TS_WARPS, TS_BLOCKS.
#define TS_CLUSTERS (8 * ((TS_GROUPS + 1) / 2))
#include "tallskinny/gemm/assign/scores/kernels/assign_settle.cuh"

constexpr int rows_of_a_lane = TS_ROWS, warp_rows = 32 * rows_of_a_lane;
constexpr int index_bits = bits_for(4 * TS_GROUPS);
constexpr uint32 index_mask = (1u << index_bits) - 1;
constexpr int groups_at_once = 4 * TS_GROUPS * TS_ROWS <= 128 ? TS_GROUPS : 2;

__device__ __forceinline__ void load_row(const Rows& x, int64 i, Element (&row)[TS_D]) {
  const Piece* const from = reinterpret_cast<const Piece*>(row_of(x, i < 0 ? 0 : i));
#pragma unroll
  for (int p = 0; p < TS_D / TS_COUNT; ++p) {
    const Piece piece = from[p];
#pragma unroll
    for (int e = 0; e < TS_COUNT; ++e) row[p * TS_COUNT + e] = piece.part[e];
  }
}

extern "C" __global__ void __launch_bounds__(32 * TS_WARPS, TS_BLOCKS)
    assign_narrow(Rows x, Selection selection, const float* negated, const float* origins, uint32 one,
                  uint32 open, const double* shift, double scale, int* labels, uint32* undecided,
                  Margin margin, Sums sums, Stats* stats) {
  const uint32 places = one << index_bits;
  extern __shared__ __align__(16) unsigned char memory[];
  // Of each group, column by column, what its four centroids have there, negated; then where their scores begin.
  float4* const centroids = reinterpret_cast<float4*>(memory);
  Shift* const shifts = reinterpret_cast<Shift*>(centroids + TS_GROUPS * (TS_D + 1));
  Settle settle{x, selection, sums, labels, undecided, reinterpret_cast<int*>(shifts + round_up(TS_D, 4))};
  settle.begin();
  for (int e = threadIdx.x; e < TS_GROUPS * (TS_D + 1); e += 32 * TS_WARPS) {
    const int group = e / (TS_D + 1), j = e % (TS_D + 1);
    centroids[e] =
        reinterpret_cast<const float4*>(j < TS_D ? negated : origins)[j < TS_D ? group * TS_D + j : group];
  }
  for (int j = threadIdx.x; j < TS_D; j += 32 * TS_WARPS) shifts[j] = shift_of(shift[j], scale);
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int64 count = selection.count(x);
  for (int64 first = (static_cast<int64>(blockIdx.x) * TS_WARPS + threadIdx.x / 32) * warp_rows;
       first < count; first += static_cast<int64>(gridDim.x) * TS_WARPS * warp_rows) {
    Element raw[rows_of_a_lane][TS_D];
    int64 row[rows_of_a_lane];
    int before[rows_of_a_lane];
#pragma unroll
    for (int r = 0; r < rows_of_a_lane; ++r) {
      row[r] = settle.row(first + 32 * r + lane, count);
      load_row(x, row[r], raw[r]);
      before[r] = settle.before(row[r]);
    }
    float v[rows_of_a_lane][TS_D];
    uint32 best[rows_of_a_lane], second[rows_of_a_lane];
#pragma unroll
    for (int r = 0; r < rows_of_a_lane; ++r) best[r] = second[r] = ~0u;
#pragma unroll
    for (int j = 0; j < TS_D; ++j) {
      const Shift s = shifts[j];
#pragma unroll
      for (int r = 0; r < rows_of_a_lane; ++r) v[r][j] = centred(raw[r][j], s, scale);
    }
#pragma unroll groups_at_once
    for (int group = 0; group < TS_GROUPS; ++group) {
      const float4* const c = centroids + group * (TS_D + 1);
      const float4 origin = c[TS_D];
      float score[rows_of_a_lane][4];
#pragma unroll
      for (int r = 0; r < rows_of_a_lane; ++r)
        score[r][0] = origin.x, score[r][1] = origin.y, score[r][2] = origin.z, score[r][3] = origin.w;
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
      for (int r = 0; r < rows_of_a_lane; ++r) {
#pragma unroll
        for (int m = 0; m < 4; m += 2)
          take(key_of(score[r][m], places, 4 * group + m), key_of(score[r][m + 1], places, 4 * group + m + 1),
               best[r], second[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < rows_of_a_lane; ++r) {
      if (first + 32 * r >= count) continue;
      const uint32 gap = (second[r] >> index_bits) - (best[r] >> index_bits);
      bool certain = gap > open;
      if (TS_MARGIN && certain) {
        float squared = 0;
#pragma unroll
        for (int j = 0; j < TS_D; ++j) squared = __fmaf_rn(v[r][j], v[r][j], squared);
        const float own = (static_cast<float>(best[r] >> index_bits & 0x7fffff) - 0x1p22f) * margin.unit,
                    error = static_cast<float>(open) * margin.unit;
        certain = static_cast<float>(gap - open) * margin.unit >
                  margin_of_scores(margin, own, error, norm_of(squared));
      }
      settle.settle<32>(first + 32 * r, row[r], before[r], static_cast<int>(best[r] & index_mask), certain);
    }
  }
  settle.end(stats);
}
