// Bounds for the next pass (bounds_lists.cuh) from scores of listed centroids: for each row its distance to the nearest
// centroid, at most; for each tile of rows and centroid a number that is at most the least ||x - c|| - u(x). With
// scores s = (||x - c||^2 - ||x||^2) / 2 and own(x) = (u(x)^2 - ||x||^2) / 2,
//   ||x - c|| - u(x) = root(u(x)^2 + 2 (s - own)) - u(x)
// grows with s - own, and where that is positive falls with u(x): the least s - own and the largest u(x) of a warp's
// rows decide. Where it is negative, the number is at least -root(2 (own - s)). Error bounds of scores and norms are
// taken away before. Differences become float16 numbers, which pass between lanes two at a time. Include after the
// shapes of assign_groups.cuh.
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_best.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/bounds_order.cuh"

__device__ __forceinline__ float root(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ uint32 less_of_halves(uint32 a, uint32 b) {
  uint32 less;
  asm("min.f16x2 %0, %1, %2;" : "=r"(less) : "r"(a), "r"(b));
  return less;
}

/// Gaps of a lane's two rows, and of the warp's.
struct Gaps {
  float base[slots], error[slots], own[slots];  // 2 s + base is at most ||x - c||^2; own: with the sign turned
  float most;                                   // the largest u

  /// `mine`: rows' norms are those of the quad's parts in `row`. Positions are 2g + s behind `first`.
  __device__ __forceinline__ Gaps(const ts::cuda::ScoresArguments& a, const Bound& bound, const Row (&row)[slots],
                                  int64 first, int64 count) {
    const float unit = 0x1p-23f / a.per_unit;
    most = 0;
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      Row whole = {};
      whole.squared = quad(row[s].squared), whole.rest = quad(row[s].rest);
      const int64 at = first + threadIdx.x % 32 / 4 * 2 + s;
      const bool real = at < count;
      const float upper = real ? a.lists.upper[at] : 0;
      error[s] = undecided_within(bound, whole, a.per_unit) / a.per_unit +
                 __fmaf_rn(whole.squared, static_cast<float>(policy.d + 64) * 0x1p-23f, 8 * unit);
      base[s] = whole.squared - 2 * a.lists.origin - error[s];
      own[s] = real ? 0.5f * __fmaf_rn(-upper, upper * (1 + 0x1p-20f), base[s]) : 1e30f;
      most = fmaxf(most, upper);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(everyone, most, step));
  }

  /// Takes the scores of a chunk of a tile's list into the bounds.
  __device__ __forceinline__ void take(const float (&product)[4 * blocks_of_8], const float* origins,
                                       const int* numbers, int* bounds, int none) const {
    const int lane = threadIdx.x % 32;
    static_assert(!policy.bounded || blocks_of_8 == 16);
    uint32 gap[blocks_of_8];
#pragma unroll
    for (int b = 0; b < blocks_of_8; ++b) {
      const float2 origin = reinterpret_cast<const float2*>(origins)[4 * b + lane % 4];
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        const uint32 both =
            halves(origin.x + product[4 * b + 2 * s] + own[s], origin.y + product[4 * b + 2 * s + 1] + own[s]);
        gap[b] = s == 0 ? both : less_of_halves(gap[b], both);
      }
    }
    // Reduces 16 pairs of columns over the lanes: each of eight lanes gets two pairs, reduced over all.
#pragma unroll
    for (int step = 0; step < 3; ++step) {
      constexpr int first_left = blocks_of_8 / 2, first_bit = 16;
      const int left = first_left >> step, bit = first_bit >> step;
      const bool behind = (lane & bit) != 0;
#pragma unroll
      for (int i = 0; i < first_left; ++i) {
        if (i >= left) continue;
        const uint32 sent = behind ? gap[i] : gap[i + left];
        gap[i] = less_of_halves(behind ? gap[i + left] : gap[i], __shfl_xor_sync(everyone, sent, bit));
      }
    }
    const int block = lane / 16 * 8 + lane / 8 % 2 * 4 + lane / 4 % 2 * 2;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int2 number = *reinterpret_cast<const int2*>(numbers + 8 * (block + i) + lane % 4 * 2);
      if (number.x != none) atomicMin(bounds + number.x, ordered(distance(lower_half(gap[i]))));
      if (number.y != none) atomicMin(bounds + number.y, ordered(distance(upper_half(gap[i]))));
    }
  }

  /// Writes the results after all chunks.
  __device__ __forceinline__ void leave(const Row (&row)[slots], float per_unit, float* nearest, int64 first,
                                        int64 count) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      float best = fminf(row[s].best, __shfl_xor_sync(everyone, row[s].best, 1));
      best = fminf(best, __shfl_xor_sync(everyone, best, 2)) / per_unit;  // a power of two
      const float squared = fmaxf(__fmaf_rn(2, best, base[s]), 0.0f);
      const int64 at = first + lane / 4 * 2 + s;
      if (lane % 4 == s && at < count) nearest[at] = root(squared + 2 * error[s]) * (1 + 0x1p-20f);
    }
  }

 private:
  /// The difference of distances from the least s - own, a float16 number.
  [[nodiscard]] __device__ __forceinline__ float distance(float rounded) const {
    const float bounded = fminf(rounded, 65504.0f);
    const float least = bounded - fabsf(bounded) * 0x1p-10f - 0x1p-23f;
    return least > 0 ? __fmaf_rn(root(__fmaf_rn(2, least, most * most)), 1 - 0x1p-20f, -most)
                     : -root(-2 * least) * (1 + 0x1p-20f);
  }
  __device__ static __forceinline__ float quad(float part) {
    part += __shfl_xor_sync(everyone, part, 1);
    return part + __shfl_xor_sync(everyone, part, 2);
  }
};
