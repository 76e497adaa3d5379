// Scores like assign_scores, for few columns and centroids: a lane scores whole rows in float32, policy.rows at a time,
// against groups of four centroids that all lanes read together.
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_bounds.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_keys.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_labels.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

constexpr int rows = policy.rows, warp_rows = policy.warp_rows();
constexpr int index_bits = bits_for(4 * policy.groups);
constexpr uint32 index_mask = (1u << index_bits) - 1;
constexpr int groups_at_once = 4 * policy.groups * rows <= 128 ? policy.groups : 2;

__device__ __forceinline__ void load_row(const Rows& x, int64 i, Element (&row)[policy.d]) {
  const Piece* const from = reinterpret_cast<const Piece*>(row_of(x, i < 0 ? 0 : i));
#pragma unroll
  for (int p = 0; p < policy.d / policy.vector; ++p) {
    const Piece piece = from[p];
#pragma unroll
    for (int e = 0; e < policy.vector; ++e) row[p * policy.vector + e] = piece.part[e];
  }
}

/// Fetches groups of four centroids, column by column, negated; then the origins of their scores.
__device__ __forceinline__ void fetch_centroids(float4* centroids, const void* negated, const float* origins) {
  for (int e = threadIdx.x; e < policy.groups * (policy.d + 1); e += policy.threads()) {
    const int group = e / (policy.d + 1), j = e % (policy.d + 1);
    centroids[e] =
        static_cast<const float4*>(j < policy.d ? negated : origins)[j < policy.d ? group * policy.d + j : group];
  }
}

/// The two least keys of each row of a lane, whose shifted columns are `v`.
__device__ __forceinline__ void score_rows(uint32 (&best)[rows], uint32 (&second)[rows],
                                           const float (&v)[rows][policy.d], const float4* centroids, uint32 places) {
#pragma unroll
  for (int r = 0; r < rows; ++r) best[r] = second[r] = ~0u;
#pragma unroll groups_at_once
  for (int group = 0; group < policy.groups; ++group) {
    const float4* const c = centroids + group * (policy.d + 1);
    const float4 origin = c[policy.d];
    float score[rows][4];
#pragma unroll
    for (int r = 0; r < rows; ++r)
      score[r][0] = origin.x, score[r][1] = origin.y, score[r][2] = origin.z, score[r][3] = origin.w;
#pragma unroll
    for (int j = 0; j < policy.d; ++j) {
      const float4 four = c[j];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        score[r][0] = __fmaf_rn(v[r][j], four.x, score[r][0]);
        score[r][1] = __fmaf_rn(v[r][j], four.y, score[r][1]);
        score[r][2] = __fmaf_rn(v[r][j], four.z, score[r][2]);
        score[r][3] = __fmaf_rn(v[r][j], four.w, score[r][3]);
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int m = 0; m < 4; m += 2)
        take(key_of(score[r][m], places, 4 * group + m), key_of(score[r][m + 1], places, 4 * group + m + 1), best[r],
             second[r]);
  }
}

extern "C" __global__ void __launch_bounds__(policy.threads(), policy.blocks)
    assign_narrow(ts::cuda::ScoresArguments a) {
  const Rows& x = a.x;
  extern __shared__ __align__(16) unsigned char memory[];
  float4* const centroids = reinterpret_cast<float4*>(memory);
  Shift* const shifts = reinterpret_cast<Shift*>(memory + policy.shifts_at());
  LabelWriter writer{x, a.selection, a.sums, a.labels, a.undecided, reinterpret_cast<int*>(memory + policy.sums_at())};
  writer.begin();
  fetch_centroids(centroids, a.centroids, a.origins);
  for (int j = threadIdx.x; j < policy.d; j += policy.threads()) shifts[j] = shift_of(a.shift[j], a.scale);
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int64 count = count_of(a.selection, x);
  for (int64 first = (static_cast<int64>(blockIdx.x) * policy.warps + threadIdx.x / 32) * warp_rows; first < count;
       first += static_cast<int64>(gridDim.x) * policy.warps * warp_rows) {
    Element raw[rows][policy.d];
    int64 row[rows];
    int before[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      row[r] = writer.row(first + 32 * r + lane, count);
      load_row(x, row[r], raw[r]);
      before[r] = writer.before(row[r]);
    }
    float v[rows][policy.d];
#pragma unroll
    for (int j = 0; j < policy.d; ++j) {
      const Shift s = shifts[j];
#pragma unroll
      for (int r = 0; r < rows; ++r) v[r][j] = centred(raw[r][j], s, a.scale);
    }
    uint32 best[rows], second[rows];
    score_rows(best, second, v, centroids, a.one << index_bits);
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (first + 32 * r < count)
        writer.write<32>(first + 32 * r, row[r], before[r], static_cast<int>(best[r] & index_mask),
                         (second[r] >> index_bits) - (best[r] >> index_bits) > a.margin);
  }
  writer.end(a.counts);
}
