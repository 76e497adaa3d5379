// The small factor of Y = alpha X op(S) + beta Y as fragments of tensor instructions, and what a warp does
// with them. K are the columns of X (complex: their real and imaginary parts in turns); 16 of them make a
// block.
//
//   TS_Q; TS_TILES (of 16 rows) and TS_COLUMN_WARPS (that share the columns); TS_ACCUMULATE: beta is not 0
#pragma once

#include "fragment.cuh"

constexpr int column_blocks = (TS_Q + 7) / 8;
constexpr int blocks_of_warp = (column_blocks + TS_COLUMN_WARPS - 1) / TS_COLUMN_WARPS;

/// Blocks whose columns are dealt out to the lanes in turns, so that a lane has up to 32 bytes of a row of Y.
constexpr int dealt_wanted = sizeof(Result) >= 16 ? 1 : sizeof(Result) == 8 ? 2 : 4;
constexpr int dealt = column_blocks % TS_COLUMN_WARPS != 0           ? 1
                      : blocks_of_warp % dealt_wanted == 0           ? dealt_wanted
                      : dealt_wanted == 4 && blocks_of_warp % 2 == 0 ? 2
                                                                     : 1;
/// The column of Y in place n of a block.
__device__ __forceinline__ int column_of(int block, int n) {
  return block / dealt * (8 * dealt) + n / 2 * (2 * dealt) + block % dealt * 2 + n % 2;
}

/// Half a fragment: lanes that read together meet in no bank.
#if TS_CORE == 0
using FactorPiece = double2;
#else
using FactorPiece = uint4;
#endif

__device__ __forceinline__ void set_parts(Fragment& f, int u, float x) {
  set(f, u, x);
}
__device__ __forceinline__ void set_parts(Fragment& f, int u, double x) {
  set(f, u, x);
}
template <class R>
__device__ __forceinline__ void set_parts(Fragment& f, int u, Complex<R> x) {
  set(f, u, x.re), set(f, u + 1, x.im);
}

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

using Sums = AccumulatorTile[TS_TILES][parts][blocks_of_warp];

/// Blocks of columns that are multiplied at once: one in float64, up to four of 3xTF32, whose instructions
/// take turns.
constexpr int most_at_once = TS_CORE == 0 ? 1 : is_complex ? 2 : 4;
constexpr int at_once = blocks_of_warp % most_at_once == 0            ? most_at_once
                        : blocks_of_warp % 3 == 0 && most_at_once > 2 ? 3
                        : blocks_of_warp % 2 == 0                     ? 2
                                                                      : 1;

/// X as it is and, if complex, as the imaginary part of Y takes it.
struct FactorRows {
  Fragment lower[TS_TILES], upper[TS_TILES], imaginary_lower[TS_TILES], imaginary_upper[TS_TILES];
};

/// The fragments of the warp's blocks from First on, if there are any.
template <int First>
__device__ __forceinline__ void load_factors(Fragment (&f)[at_once], const unsigned char* factor,
                                             int column_warp, int lane) {
  if constexpr (First < blocks_of_warp)
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      int block = column_warp * blocks_of_warp + First + j;
      if (column_blocks % TS_COLUMN_WARPS != 0 && block >= column_blocks)
        block = 0;  // its sums are not stored
      f[j] = load_factor(factor, block, lane);
    }
}

/// sums += the products of one block of K with a warp's columns from block First on, of which `right` are the
/// first.
template <int First = 0>
__device__ __forceinline__ void multiply_factor(Sums& sum, const FactorRows& rows,
                                                const unsigned char* factor, const Fragment (&right)[at_once],
                                                int column_warp, int lane) {
  Fragment next[at_once];
  load_factors<First + at_once>(next, factor, column_warp, lane);
  asm volatile("" ::: "memory");  // what is loaded further ahead spills
  using Blocks = AccumulatorTile[at_once];
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i) {
    multiply_add_row(reinterpret_cast<Blocks&>(sum[i][0][First]), rows.lower[i], rows.upper[i], right, 0);
    if constexpr (is_complex)
      multiply_add_row(reinterpret_cast<Blocks&>(sum[i][parts - 1][First]), rows.imaginary_lower[i],
                       rows.imaginary_upper[i], right, 0);
  }
  if constexpr (First + at_once < blocks_of_warp)
    multiply_factor<First + at_once>(sum, rows, factor, next, column_warp, lane);
}

/// What alpha, beta and sums are: float32 for sums in float32, else float64.
#if TS_CORE == 0
using Sum = double;
#else
using Sum = float;
#endif

/// alpha sum + beta y, where beta counts if TS_ACCUMULATE.
struct Scalars {
  Complex<Sum> alpha, beta;

  template <class R>
  __device__ __forceinline__ R apply(Sum re, Sum, const R& y) const {
    const Sum scaled = alpha.re * re;
    return static_cast<R>(TS_ACCUMULATE ? madd(beta.re, static_cast<Sum>(y), scaled) : scaled);
  }
  template <class R>
  __device__ __forceinline__ Complex<R> apply(Sum re, Sum im, const Complex<R>& y) const {
    Complex<Sum> sum = mul(alpha, Complex<Sum>{re, im});
    if (TS_ACCUMULATE) sum = madd(beta, Complex<Sum>{static_cast<Sum>(y.re), static_cast<Sum>(y.im)}, sum);
    return {static_cast<R>(sum.re), static_cast<R>(sum.im)};
  }
};
