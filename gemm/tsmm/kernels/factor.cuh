// The small factor of Y = alpha X op(S) + beta Y as fragments of tensor instructions.
#pragma once

#include "tallskinny/gemm/device/fragment.cuh"

/// The lower bits of a low part, which the instructions ignore, are rounded.
__device__ __forceinline__ void round_low(DoubleFragment&, int) {}
__device__ __forceinline__ void round_low(SplitFragment& f, int u) { f.low[u] = rounded_low(f.low[u]); }
/// Places u .. of a fragment of S.
__device__ __forceinline__ void set_factor(Fragment& f, int u, Real x) {
  set(f, u, x);
  round_low(f, u);
}
__device__ __forceinline__ void set_factor(Fragment& f, int u, Complex<Real> x) {
  set_factor(f, u, x.re), set_factor(f, u + 1, x.im);
}

/// Writes one lane's share of (k block, column block) number `block`, in halves: lanes that read together meet in no
/// bank.
__device__ __forceinline__ void store_factor(unsigned char* factor, int64 block, int lane, const DoubleFragment& f) {
  double2* const halves = reinterpret_cast<double2*>(factor) + block * 64 + lane;
  halves[0] = {f.k[0], f.k[1]}, halves[32] = {f.k[2], f.k[3]};
}
__device__ __forceinline__ void store_factor(unsigned char* factor, int64 block, int lane, const SplitFragment& f) {
  uint4* const halves = reinterpret_cast<uint4*>(factor) + block * 64 + lane;
  halves[0] = {f.high[0], f.high[1], f.high[2], f.high[3]}, halves[32] = {f.low[0], f.low[1], f.low[2], f.low[3]};
}
__device__ __forceinline__ void load_factor(const unsigned char* factor, int block, int lane, DoubleFragment& f) {
  const double2* const halves = reinterpret_cast<const double2*>(factor) + block * 64 + lane;
  const double2 first = halves[0], second = halves[32];
  f = {{first.x, first.y, second.x, second.y}};
}
__device__ __forceinline__ void load_factor(const unsigned char* factor, int block, int lane, SplitFragment& f) {
  const uint4* const halves = reinterpret_cast<const uint4*>(factor) + block * 64 + lane;
  const uint4 first = halves[0], second = halves[32];
  f = {{first.x, first.y, first.z, first.w}, {second.x, second.y, second.z, second.w}};
}

/// What (Re S, Im S) meets of X for the imaginary part of Y, (Im X, Re X), and, in place, for the real one,
/// (Re X, -Im X).
__device__ __forceinline__ DoubleFragment imaginary_of(DoubleFragment& f) {
  DoubleFragment im;
#pragma unroll
  for (int u = 0; u < 4; u += 2) {
    im.k[u] = f.k[u + 1], im.k[u + 1] = f.k[u];
    f.k[u + 1] = -f.k[u + 1];
  }
  return im;
}
__device__ __forceinline__ SplitFragment imaginary_of(SplitFragment& f) {
  SplitFragment im;
#pragma unroll
  for (int u = 0; u < 4; u += 2) {
    im.high[u] = f.high[u + 1], im.high[u + 1] = f.high[u], im.low[u] = f.low[u + 1], im.low[u + 1] = f.low[u];
    f.high[u + 1] ^= 0x80000000u, f.low[u + 1] ^= 0x80000000u;
  }
  return im;
}
