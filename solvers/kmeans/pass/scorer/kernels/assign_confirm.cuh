// Confirms labels: a row keeps its label if no other score is within its bound of the label's own. Where labels seldom
// change, nothing else must be found. Six more columns of K, 1 1 1 t1 t2 t3 of a row and o1 o2 o3 -1 -1 -1 of a
// centroid in float16 parts, add the origin of the centroid, o = ||c||^2 / 2, to a score and take the row's limit t
// away, just beyond the label's own score. So signs decide, and only logic looks at them, which runs beside tensor
// instructions at almost no cost.
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_bounds.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

/// A label that is one; otherwise some centroid.
__device__ __forceinline__ int known(int label) { return static_cast<uint32>(label) < policy.clusters() ? label : 0; }

/// The row's six columns. `score`: that of its label by float32 multiply-adds, +-error; scores up to `within` from
/// the own one matter. An instruction truncates 17 terms and their sum (assign_bounds.cuh), none of which is
/// larger than 2 (||x|| + C) C; a lane rounds at most four times a step, and parts lose 2^-24. Then the own
/// score is below the limit, computed either way, and so is every other that matters.
__device__ __forceinline__ uint4 limit_of(int label, float score, float within, const Largest& c, float norm,
                                          int steps) {
  constexpr float most = 60000;  // of float16, less than what copies of centroids have as origin
  const float error = __fmaf_rn(static_cast<float>(40 * (steps + 1)) * 0x1p-23f * c.norm, norm + c.norm, 0x1p-22f);
  const float beyond = score + (within + 3 * error), limit = known(label) == label && beyond < most ? beyond : 65504.0f;
  const uint32 upper = halves(1, limit), middle = halves(limit - upper_half(upper), 0);
  return {0x3c003c00u, upper, halves(lower_half(middle), limit - upper_half(upper) - lower_half(middle)), 0};
}

/// Counts scores below the limit by their signs. Shifts that collect signs read two registers each; a third would
/// compete with tensor instructions.
struct Below {
  uint32 signs[2], one, two;  // of the last scores, and whether there was one, or more, before them

  __device__ __forceinline__ void add(float a, float b) {
    signs[0] = __funnelshift_l(__float_as_uint(a), signs[0], 1),
    signs[1] = __funnelshift_l(__float_as_uint(b), signs[1], 1);
  }
  /// Call after at most 32 scores.
  __device__ __forceinline__ void end_stretch() {
    const uint32 all = signs[0] | signs[1] << 16;
    two |= (all & (all - 1)) | (all != 0 ? one : 0u);
    one |= all;
    signs[0] = signs[1] = 0;
  }
};
/// Rows, of up to 16, with exactly one such score among all lanes of a quad: a bit each.
template <int Rows>
__device__ __forceinline__ uint32 with_only_one(const Below (&below)[Rows]) {
  uint32 bits = 0;  // one, and in the upper half two
#pragma unroll
  for (int row = 0; row < Rows; ++row)
    bits |= (below[row].one != 0 ? 1u << row : 0u) | (below[row].two != 0 ? 1u << (16 + row) : 0u);
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    const uint32 other = __shfl_xor_sync(0xffffffffu, bits, step);
    bits |= other | (bits & other & 0xffff) << 16;
  }
  return bits & ~(bits >> 16) & 0xffff;
}
