// Numbers of two float64, without contraction: the same bits on every device and on the host.
#pragma once

/// high + low, exactly (Dekker 1971, Knuth 1969).
struct Twofold {
  double high, low;
};
__device__ __forceinline__ Twofold two_sum(double a, double b) {
  const double s = __dadd_rn(a, b), t = __dsub_rn(s, a);
  return {s, __dadd_rn(__dsub_rn(a, __dsub_rn(s, t)), __dsub_rn(b, t))};
}

// Shorter than the host's operators, where only the order of results counts.
__device__ __forceinline__ Twofold add(Twofold a, Twofold b) {
  const Twofold s = two_sum(a.high, b.high);
  return two_sum(s.high, __dadd_rn(s.low, __dadd_rn(a.low, b.low)));
}
__device__ __forceinline__ Twofold square(Twofold a) {
  const double p = __dmul_rn(a.high, a.high);
  const double rest = __fma_rn(a.high, a.high, -p);
  return two_sum(p, __fma_rn(__dmul_rn(2, a.high), a.low, rest));
}
/// The leading part of a - b.
__device__ __forceinline__ double minus(Twofold a, Twofold b) { return add(a, {-b.high, -b.low}).high; }

// The host's operators (gemm/core/twofold.hpp), step by step.
__device__ __forceinline__ Twofold operator-(Twofold a) { return {-a.high, -a.low}; }
__device__ __forceinline__ Twofold operator+(Twofold a, Twofold b) {
  const Twofold s = two_sum(a.high, b.high), t = two_sum(a.low, b.low);
  const Twofold c = two_sum(s.high, __dadd_rn(s.low, t.high));
  return two_sum(c.high, __dadd_rn(c.low, t.low));
}
__device__ __forceinline__ Twofold operator*(Twofold a, double b) {
  const double p = __dmul_rn(a.high, b);
  return two_sum(p, __dadd_rn(__fma_rn(a.high, b, -p), __dmul_rn(a.low, b)));
}
__device__ __forceinline__ Twofold operator/(Twofold a, Twofold b) {
  const double q = __ddiv_rn(a.high, b.high);
  const Twofold rest = a + -(b * q);
  return two_sum(q, __ddiv_rn(rest.high, b.high));
}
