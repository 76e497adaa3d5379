// How far scores computed by tensor instructions may be from exact ones.
#pragma once

/// Of all centroids c (shifted and scaled): the norms of c, of the lower of its two parts, and of what both leave.
struct Largest {
  float norm, low, rest;
};
/// Norms are not negative, so their bits are in their order.
__device__ __forceinline__ void largest_of(float* most, double x) {
  const float up = static_cast<float>(x) * (1 + 0x1p-20f);
  atomicMax(reinterpret_cast<unsigned*>(most), __float_as_uint(up));
}

/// A row decides nothing where the second-best score is within constant + by_norm ||x|| of the best.
struct Margin {
  float constant, by_norm;
};

/// x = x1 + x2 + e and c = c1 + c2 + f in float16 parts, of which x1 c1 + x1 c2 + x2 c1 is summed (`parts` 2), or x = x1 + e
/// and x1 c1 (`parts` 1). With u = 2^-11, s = 2^-25 (half the last place of subnormal numbers) and x rounded to float32 before:
///   |e| <= (u^2 or u) ||x|| + 2^-23 ||x|| + s sqrt(d),   dropped: |x2| |c2| (or |x1| |c2|)
/// An instruction adds 17 terms, each truncated at 2^-23 of the largest, and truncates the sum (Fasi, Higham, Mikaitis,
/// Pranesh 2021: no generation of tensor units is worse); no term or sum is larger than H + ||x|| C. `index_bits` of a score
/// carry its number. Twice the error of a score, and 4 % for this arithmetic.
__device__ __forceinline__ Margin margin_of(const Largest& c, int d, int parts, int steps, int index_bits) {
  const float u = 0x1p-11f, subnormal = 0x1p-25f * sqrtf(static_cast<float>(d));
  const float h = 0.5f * c.norm * c.norm;
  const float x_rest = (parts == 2 ? u * u : u) + 0x1p-23f;
  const float truncated = static_cast<float>(18 * steps * (parts == 2 ? 3 : 1)) * 0x1p-23f;
  const float indexed = static_cast<float>(1 << index_bits) * 0x1p-23f;
  const float relative = truncated + indexed + 0x1p-24f;
  const float c_left = parts == 2 ? c.rest : c.rest + c.low;
  const float dropped = parts == 2 ? c.low : 0.0f;
  const float by_norm = x_rest * c.norm + 1.01f * c_left + u * dropped + relative * c.norm;
  const float constant = subnormal * (c.norm + c_left + dropped) + relative * h;
  return {2.04f * constant + 0x1p-100f, 2.04f * by_norm};
}

/// The same for a chain of TS_D fused multiply-adds in float32 (Higham 2002, section 3.1).
__device__ __forceinline__ Margin margin_of_float32(const Largest& c, int d, int index_bits) {
  const float h = 0.5f * c.norm * c.norm;
  const float relative = static_cast<float>(d + 3) * 0x1p-24f + static_cast<float>(1 << index_bits) * 0x1p-23f;
  return {2.04f * relative * h + 0x1p-100f, 2.04f * (relative + 0x1p-22f) * c.norm};
}
