// to = from for `rows` rows of `width` real numbers, to_ld and from_ld apart: in one precision the bits as they are, else
// each number in the precision of `to`. Short rows share a block; a thread reads several of them before it writes.
// TS_TYPE, TS_FROM: float64 (0) or float32 (2), of `to` and of `from`. TS_VECTOR: numbers moved at once, a divisor of
// width. TS_ALIGN, TS_FROM_ALIGN: their alignment.
#include "tallskinny/gemm/device/element.cuh"

using Source = Choose<TS_FROM == 0, double, float>::type;
using Piece = Vector<Real, TS_VECTOR, TS_ALIGN>;
using SourcePiece = Vector<Source, TS_VECTOR, TS_FROM_ALIGN>;

constexpr int batch = 4;  // pieces of a thread under way

extern "C" __global__ void __launch_bounds__(256, 4)
    copy_rows(Real* to, int64 to_ld, const Source* from, int64 from_ld, int64 rows, int64 width) {
  const int64 pieces = width / TS_VECTOR;
  const int across = static_cast<int>(min(pieces, int64(256))), rows_at_once = 256 / across,
            row = threadIdx.x / across;
  if (row >= rows_at_once) return;
  const int64 stride = static_cast<int64>(gridDim.x) * rows_at_once;
  for (int64 p = threadIdx.x % across; p < pieces; p += across)
    for (int64 first = static_cast<int64>(blockIdx.x) * rows_at_once + row; first < rows;
         first += batch * stride) {
      SourcePiece read[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (const int64 i = first + k * stride; i < rows)
          read[k] = *reinterpret_cast<const SourcePiece*>(from + i * from_ld + p * TS_VECTOR);
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (const int64 i = first + k * stride; i < rows) {
          Piece piece;
#pragma unroll
          for (int e = 0; e < TS_VECTOR; ++e) piece.part[e] = static_cast<Real>(read[k].part[e]);
          *reinterpret_cast<Piece*>(to + i * to_ld + p * TS_VECTOR) = piece;
        }
    }
}
