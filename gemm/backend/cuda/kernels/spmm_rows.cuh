// Y = alpha A X + beta Y, A in compressed sparse rows, q = TS_Q columns.
// TS_LANES lanes share the columns of a row, TS_VECTOR elements each and TS_PASSES times over; TS_SPLIT such teams
// share its entries and add up at the end, in a fixed order. One group of TS_LANES x TS_SPLIT lanes works on a row.
// TS_INDEX_BYTES: of a column number. TS_ALIGN, TS_OUT_ALIGN: of rows of X and Y. TS_STRIDED: X and Y may lie in any
// way (TS_VECTOR is 1 then), else they are row-major.
#include "element.cuh"

#if TS_INDEX_BYTES == 4
using Index = int;
#else
using Index = int64;
#endif

constexpr int group = TS_LANES * TS_SPLIT;
constexpr int groups_a_block = 256 / group;
constexpr int unroll = TS_UNROLL;

__device__ __forceinline__ Result shuffled(Result x, int distance) {
  constexpr int words = sizeof(Result) / 4;
  union {
    Result whole;
    uint32 word[words];
  } bits = {x};
#pragma unroll
  for (int w = 0; w < words; ++w) bits.word[w] = __shfl_xor_sync(0xffffffffu, bits.word[w], distance);
  return bits.whole;
}

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

using Piece = Vector<Element, TS_VECTOR, TS_ALIGN>;
using OutPiece = Vector<Result, TS_VECTOR, TS_OUT_ALIGN>;

struct Sums {
  Result part[TS_PASSES][TS_VECTOR];
};

__device__ __forceinline__ bool inside(int pass, int lane) {
  constexpr int across = TS_Q / TS_VECTOR;
  return (pass + 1) * TS_LANES <= across || pass * TS_LANES + lane < across;
}

extern "C" __global__ void __launch_bounds__(256, 2)
    spmm_rows(int64 rows, const int64* pointers, const Index* indices, const Element* values, const Element* x,
         int64 x_row_stride, int64 x_col_stride, Result* y, int64 y_row_stride, int64 y_col_stride, Result alpha,
         Result beta) {
  const int lane = threadIdx.x % TS_LANES, team = threadIdx.x % group / TS_LANES;
  const int64 i = static_cast<int64>(blockIdx.x) * groups_a_block + threadIdx.x / group;
  const bool active = i < rows;  // all lanes go on, so that they can shuffle
  Sums sums = {};
  const int64 begin = active ? pointers[i] : 0, end = active ? pointers[i + 1] : 0;
  for (int64 e = begin + team; e < end; e += TS_SPLIT * unroll) {
    Element value[unroll];
    Index column[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const int64 at = e + u * TS_SPLIT;
      const bool there = at < end;
      column[u] = there ? indices[at] : Index(-1);
      value[u] = there ? values[at] : Element{};
    }
#pragma unroll
    for (int pass = 0; pass < TS_PASSES; ++pass) {
      if (!inside(pass, lane)) continue;
      const int64 place = (pass * TS_LANES + lane) * TS_VECTOR;
      Piece piece[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        if (column[u] < 0) continue;
#if TS_STRIDED
        piece[u].part[0] = x[column[u] * x_row_stride + place * x_col_stride];
#else
        piece[u] = *reinterpret_cast<const Piece*>(x + column[u] * x_row_stride + place);
#endif
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        if (column[u] < 0) continue;
#pragma unroll
        for (int k = 0; k < TS_VECTOR; ++k)
          sums.part[pass][k] = madd(widen(value[u]), widen(piece[u].part[k]), sums.part[pass][k]);
      }
    }
  }
#pragma unroll
  for (int distance = group / 2; distance >= TS_LANES; distance /= 2)
#pragma unroll
    for (int pass = 0; pass < TS_PASSES; ++pass)
#pragma unroll
      for (int k = 0; k < TS_VECTOR; ++k)
        sums.part[pass][k] = plus(sums.part[pass][k], shuffled(sums.part[pass][k], distance));

  if (!active || team != 0) return;
#pragma unroll
  for (int pass = 0; pass < TS_PASSES; ++pass) {
    if (!inside(pass, lane)) continue;
    const int64 place = (pass * TS_LANES + lane) * TS_VECTOR;
#if TS_STRIDED
    store_scaled(y + i * y_row_stride + place * y_col_stride, alpha, sums.part[pass][0], beta);
#else
    OutPiece* const out = reinterpret_cast<OutPiece*>(y + i * y_row_stride + place);
    OutPiece piece{};
    if (!is_zero(beta)) piece = *out;
#pragma unroll
    for (int k = 0; k < TS_VECTOR; ++k) {
      const Result scaled = mul(alpha, sums.part[pass][k]);
      piece.part[k] = is_zero(beta) ? scaled : madd(beta, piece.part[k], scaled);
    }
    *out = piece;
#endif
  }
}
