// What the kernels of sparse products have in common.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

using Index = Choose<policy.index_bytes == 4, int, int64>::type;

using Piece = Vector<Element, policy.vector, policy.alignment>;
using OutPiece = Vector<Result, policy.vector, policy.out_alignment>;

using Arguments = ts::cuda::SpmmArguments<Result>;

/// The place of `column` in row i of X, and of Y.
__device__ __forceinline__ const Element* x_at(const Arguments& a, int64 i, int column) {
  const Element* const x = static_cast<const Element*>(a.x.data);
  if constexpr (policy.strided)
    return x + i * a.x.row_stride + column * a.x.column_stride;
  else
    return x + i * a.x.row_stride + column;
}
__device__ __forceinline__ Result* y_at(const Arguments& a, int64 i, int column) {
  Result* const y = static_cast<Result*>(a.y.data);
  if constexpr (policy.strided)
    return y + i * a.y.row_stride + column * a.y.column_stride;
  else
    return y + i * a.y.row_stride + column;
}

__device__ __forceinline__ double plus(double a, double b) { return a + b; }
__device__ __forceinline__ float plus(float a, float b) { return a + b; }
template <class R>
__device__ __forceinline__ Complex<R> plus(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}

/// f of the 32-bit words of x.
template <class F>
__device__ __forceinline__ Result by_words(Result x, F&& f) {
  constexpr int words = sizeof(Result) / 4;
  union {
    Result whole;
    uint32 word[words];
  } bits = {x};
#pragma unroll
  for (int w = 0; w < words; ++w) bits.word[w] = f(bits.word[w]);
  return bits.whole;
}

constexpr int vector = policy.vector, lanes = policy.lanes, passes = policy.passes(), unroll = policy.unroll;

/// A lane's part of a row of the product.
struct RowSums {
  Result part[passes][vector];
};

/// The first column of a lane in a pass, and whether there is one.
__device__ __forceinline__ int place_of(int pass, int lane) { return (pass * lanes + lane) * vector; }
__device__ __forceinline__ bool inside(int pass, int lane) {
  constexpr int across = policy.q / vector;
  return (pass + 1) * lanes <= across || pass * lanes + lane < across;
}

/// sums += factor piece
__device__ __forceinline__ void add_piece(Result (&sums)[vector], Result factor, const Piece& piece) {
#pragma unroll
  for (int k = 0; k < vector; ++k) sums[k] = madd(factor, widen(piece.part[k]), sums[k]);
}

/// sums += factor X(i, :)
__device__ __forceinline__ void add_row(RowSums& sums, const Arguments& a, int64 i, Result factor, int lane) {
#pragma unroll
  for (int pass = 0; pass < passes; ++pass)
    if (inside(pass, lane))
      add_piece(sums.part[pass], factor, *reinterpret_cast<const Piece*>(x_at(a, i, place_of(pass, lane))));
}

/// What Y(i, :) holds, where a kernel reads it before the entries of A; nothing where beta is 0.
struct RowBefore {
  OutPiece piece[policy.shifted ? passes : 1];
};
__device__ __forceinline__ void load_row(RowBefore& before, const Arguments& a, int64 i, int lane) {
  if (is_zero(a.beta)) return;
#pragma unroll
  for (int pass = 0; pass < passes; ++pass)
    if (inside(pass, lane)) before.piece[pass] = *reinterpret_cast<const OutPiece*>(y_at(a, i, place_of(pass, lane)));
}

/// Y(i, :) = alpha sums + beta Y(i, :), where beta = 0 never reads Y.
__device__ __forceinline__ void store_row(const Arguments& a, int64 i, const RowSums& sums, const RowBefore& before,
                                          int lane) {
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) {
    if (!inside(pass, lane)) continue;
    OutPiece* const out = reinterpret_cast<OutPiece*>(y_at(a, i, place_of(pass, lane)));
    OutPiece piece{};
    if constexpr (policy.shifted)
      piece = before.piece[pass];
    else if (!is_zero(a.beta))
      piece = *out;
#pragma unroll
    for (int k = 0; k < vector; ++k) {
      const Result scaled = mul(a.alpha, sums.part[pass][k]);
      piece.part[k] = is_zero(a.beta) ? scaled : madd(a.beta, piece.part[k], scaled);
    }
    *out = piece;
  }
}
