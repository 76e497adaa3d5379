// Bounds of the errors of scores computed by tensor instructions.
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/arguments.hpp"

using Largest = ts::cuda::Largest;

/// Norms are not negative, so their bits are in their order.
__device__ __forceinline__ void largest_of(float* most, double x) {
  const float up = static_cast<float>(x) * (1 + 0x1p-20f);
  atomicMax(reinterpret_cast<unsigned*>(most), __float_as_uint(up));
}

/// The root of a sum of d rounded squares, rounded up.
__device__ __forceinline__ float norm_of(float squared) {
  float norm;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(norm) : "f"(squared * (1 + (policy.d + 16) * 0x1p-23f)));
  return norm * (1 + 0x1p-20f);
}

/// Scores decide nothing about a row x where the second best is within constant + by_norm ||x|| + by_rest ||x -
/// x1|| of the best: twice the error of a score, and 2 % for the arithmetic here.
struct Bound {
  float constant, by_norm, by_rest;
};
__device__ __forceinline__ Bound bound_of(float constant, float by_norm, float by_rest) {
  return {2.04f * constant + 0x1p-100f, 2.04f * by_norm, 2.04f * by_rest};
}

/// x = x1 + x2 + e and c = c1 + c2 + f in float16 parts, of which x1 c1 + x1 c2 + x2 c1 is summed (`parts` 2),
/// or x1 c1 alone (`parts` 1). With u = 2^-11 and s = 2^-25 (half the last place of subnormal numbers), and x
/// rounded to float32 before:
///   |x2| <= u ||x|| + s sqrt(d),  |e| <= u |x2| + s sqrt(d) + 2^-23 ||x||,
///   dropped: |x2| |c2|, or |x - x1| |c| and |x| |c - c1|
/// An instruction adds 17 terms, each truncated at 2^-23 of the largest, and truncates the sum (Fasi, Higham,
/// Mikaitis, Pranesh 2021: no generation of tensor units is worse); no term or sum is larger than ||x|| C.
/// `steps` instructions of each product follow one another, and `additions` in float32 put such sums together.
/// Of three products those with a lower part come first: while they are alone, terms and sums are below 2.1 u
/// ||x|| C, so that their 2 steps instructions lose less than 2^-8 of what the last `steps` do.
__device__ __forceinline__ Bound bound_of_parts(const Largest& c, int d, int parts, int steps, int additions) {
  const float u = 0x1p-11f, subnormal = 0x1p-25f * sqrtf(static_cast<float>(d));
  const float relative = static_cast<float>(18 * steps) * (parts == 2 ? 1 + 0x1p-8f : 1.0f) * 0x1p-23f +
                         static_cast<float>(1 + additions) * 0x1p-24f;
  if (parts == 2)
    return bound_of(subnormal * (2 * c.norm + c.low),
                    (u * u + 0x1p-23f + relative) * c.norm + 1.01f * c.rest + u * c.low, 0);
  return bound_of(subnormal * c.norm, (0x1p-23f + relative) * c.norm + 1.01f * (c.rest + c.low), 1.01f * c.norm);
}
