// What the kernels of sparse products have in common: TS_LANES lanes share the TS_Q columns of a row of X or Y,
// TS_VECTOR elements each and TS_PASSES times over. TS_INDEX_BYTES: of a column number. TS_CONJUGATE: values count
// conjugated. TS_ALIGN, TS_OUT_ALIGN: of rows of X and Y. TS_STRIDED: X and Y may lie in any way (TS_VECTOR is 1
// then), else they are row-major. TS_SHIFTED: `diagonal` is added to the diagonal of A,
// and Y is read before the entries of A, not after them.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

#if TS_INDEX_BYTES == 4
using Index = int;
#else
using Index = int64;
#endif

using Piece = Vector<Element, TS_VECTOR, TS_ALIGN>;
using OutPiece = Vector<Result, TS_VECTOR, TS_OUT_ALIGN>;

/// A sparse matrix with int64 row pointers.
struct SparseArgument {
  const int64* pointers;
  const Index* indices;
  const Element* values;
};
/// Rows of X and Y.
struct XArgument {
  const Element* data;
  int64 row_stride, column_stride;
};
struct YArgument {
  Result* data;
  int64 row_stride, column_stride;
};

__device__ __forceinline__ double plus(double a, double b) {
  return a + b;
}
__device__ __forceinline__ float plus(float a, float b) {
  return a + b;
}
template <class R>
__device__ __forceinline__ Complex<R> plus(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}

/// A lane's part of a row of the product.
struct RowSums {
  Result part[TS_PASSES][TS_VECTOR];
};

/// The first column of a lane in a pass, and whether there is one.
__device__ __forceinline__ int place_of(int pass, int lane) {
  return (pass * TS_LANES + lane) * TS_VECTOR;
}
__device__ __forceinline__ bool inside(int pass, int lane) {
  constexpr int across = TS_Q / TS_VECTOR;
  return (pass + 1) * TS_LANES <= across || pass * TS_LANES + lane < across;
}

/// sums += the entries begin, begin + step, ... before `end`, TS_UNROLL of them under way at the same time.
__device__ __forceinline__ void add_entries(RowSums& sums, const SparseArgument& a, const XArgument& x,
                                            int64 begin, int64 end, int step, int lane) {
  for (int64 e = begin; e < end; e += step * TS_UNROLL) {
    Element value[TS_UNROLL];
    Index column[TS_UNROLL];
#pragma unroll
    for (int u = 0; u < TS_UNROLL; ++u) {
      const int64 at = e + u * step;
      const bool there = at < end;
      column[u] = there ? a.indices[at] : Index(-1);
      value[u] = there ? a.values[at] : Element{};
    }
#pragma unroll
    for (int pass = 0; pass < TS_PASSES; ++pass) {
      if (!inside(pass, lane)) continue;
      Piece piece[TS_UNROLL];
#pragma unroll
      for (int u = 0; u < TS_UNROLL; ++u) {
        if (column[u] < 0) continue;
#if TS_STRIDED
        piece[u].part[0] = x.data[column[u] * x.row_stride + place_of(pass, lane) * x.column_stride];
#else
        piece[u] = *reinterpret_cast<const Piece*>(x.data + column[u] * x.row_stride + place_of(pass, lane));
#endif
      }
#pragma unroll
      for (int u = 0; u < TS_UNROLL; ++u) {
        if (column[u] < 0) continue;
        const Result factor = TS_CONJUGATE ? conj(widen(value[u])) : widen(value[u]);
#pragma unroll
        for (int k = 0; k < TS_VECTOR; ++k)
          sums.part[pass][k] = madd(factor, widen(piece[u].part[k]), sums.part[pass][k]);
      }
    }
  }
}

#if TS_SHIFTED
/// sums += factor X(i, :)
__device__ __forceinline__ void add_row(RowSums& sums, const XArgument& x, int64 i, Result factor, int lane) {
#pragma unroll
  for (int pass = 0; pass < TS_PASSES; ++pass) {
    if (!inside(pass, lane)) continue;
    const int place = place_of(pass, lane);
    Piece piece;
#if TS_STRIDED
    piece.part[0] = x.data[i * x.row_stride + place * x.column_stride];
#else
    piece = *reinterpret_cast<const Piece*>(x.data + i * x.row_stride + place);
#endif
#pragma unroll
    for (int k = 0; k < TS_VECTOR; ++k)
      sums.part[pass][k] = madd(factor, widen(piece.part[k]), sums.part[pass][k]);
  }
}
#endif

/// What Y(i, :) holds, where a kernel reads it before the entries of A; nothing where beta is 0.
struct RowBefore {
#if TS_SHIFTED
  OutPiece piece[TS_PASSES];
#endif
};
#if TS_SHIFTED
__device__ __forceinline__ void load_row(RowBefore& before, const YArgument& y, int64 i, int lane,
                                         Result beta) {
  if (is_zero(beta)) return;
#pragma unroll
  for (int pass = 0; pass < TS_PASSES; ++pass) {
    if (!inside(pass, lane)) continue;
    const int place = place_of(pass, lane);
#if TS_STRIDED
    before.piece[pass].part[0] = y.data[i * y.row_stride + place * y.column_stride];
#else
    before.piece[pass] = *reinterpret_cast<const OutPiece*>(y.data + i * y.row_stride + place);
#endif
  }
}
#endif

/// Y(i, :) = alpha sums + beta Y(i, :), where beta = 0 never reads Y.
__device__ __forceinline__ void store_row(const YArgument& y, int64 i, const RowSums& sums,
                                          const RowBefore& before, int lane, Result alpha, Result beta) {
#pragma unroll
  for (int pass = 0; pass < TS_PASSES; ++pass) {
    if (!inside(pass, lane)) continue;
    const int place = place_of(pass, lane);
#if TS_STRIDED
    Result* const out = y.data + i * y.row_stride + place * y.column_stride;
    const Result scaled = mul(alpha, sums.part[pass][0]);
#if TS_SHIFTED
    *out = is_zero(beta) ? scaled : madd(beta, before.piece[pass].part[0], scaled);
#else
    *out = is_zero(beta) ? scaled : madd(beta, *out, scaled);
#endif
#else
    OutPiece* const out = reinterpret_cast<OutPiece*>(y.data + i * y.row_stride + place);
    OutPiece piece{};
#if TS_SHIFTED
    piece = before.piece[pass];
#else
    if (!is_zero(beta)) piece = *out;
#endif
#pragma unroll
    for (int k = 0; k < TS_VECTOR; ++k) {
      const Result scaled = mul(alpha, sums.part[pass][k]);
      piece.part[k] = is_zero(beta) ? scaled : madd(beta, piece.part[k], scaled);
    }
    *out = piece;
#endif
  }
}
