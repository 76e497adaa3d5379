// The small factor of Y = alpha X op(S) + beta Y as fragments of tensor instructions.
#pragma once

#include "tallskinny/gemm/device/fragment.cuh"

/// Places u .. of a fragment of S; the lower bits of a low part, which the instructions ignore, are rounded.
__device__ __forceinline__ void set_factor(Fragment& f, int u, Real x) {
  set(f, u, x);
#if TS_CORE == 1
  f.low[u] = rounded_low(f.low[u]);
#endif
}
__device__ __forceinline__ void set_factor(Fragment& f, int u, Complex<Real> x) {
  set_factor(f, u, x.re), set_factor(f, u + 1, x.im);
}

/// Half a fragment: lanes that read together meet in no bank.
#if TS_CORE == 0
using FactorPiece = double2;
#else
using FactorPiece = uint4;
#endif

/// Writes one lane's share of (k block, column block) number `block`.
__device__ __forceinline__ void store_factor(unsigned char* factor, int64 block, int lane,
                                             const Fragment& f) {
  FactorPiece* const pieces = reinterpret_cast<FactorPiece*>(factor) + block * 64 + lane;
#if TS_CORE == 0
  pieces[0] = {f.k[0], f.k[1]}, pieces[32] = {f.k[2], f.k[3]};
#else
  pieces[0] = {f.high[0], f.high[1], f.high[2], f.high[3]},
  pieces[32] = {f.low[0], f.low[1], f.low[2], f.low[3]};
#endif
}
__device__ __forceinline__ Fragment load_factor(const unsigned char* factor, int block, int lane) {
  const FactorPiece* const pieces = reinterpret_cast<const FactorPiece*>(factor) + block * 64 + lane;
  const FactorPiece first = pieces[0], second = pieces[32];
#if TS_CORE == 0
  return {{first.x, first.y, second.x, second.y}};
#else
  return {{first.x, first.y, first.z, first.w}, {second.x, second.y, second.z, second.w}};
#endif
}

/// What (Re S, Im S) meets of X for the imaginary part of Y, (Im X, Re X), and, in place, for the real one,
/// (Re X, -Im X).
__device__ __forceinline__ Fragment imaginary_of(Fragment& f) {
  Fragment im;
#pragma unroll
  for (int u = 0; u < 4; u += 2) {
#if TS_CORE == 0
    im.k[u] = f.k[u + 1], im.k[u + 1] = f.k[u];
    f.k[u + 1] = -f.k[u + 1];
#else
    im.high[u] = f.high[u + 1], im.high[u + 1] = f.high[u], im.low[u] = f.low[u + 1],
    im.low[u + 1] = f.low[u];
    f.high[u + 1] ^= 0x80000000u, f.low[u + 1] ^= 0x80000000u;
#endif
  }
  return im;
}
