// A = beta A over `lines` lines of `width` results each, `ld` apart; beta = 0 never reads.
// TS_TYPE: the result type. TS_VECTOR: elements moved at once, a divisor of width. TS_ALIGN: their alignment.
#pragma once
#include "element.cuh"

extern "C" __global__ void __launch_bounds__(256)
    scale(Result* a, int64 lines, int64 width, int64 ld, Result beta) {
  using Piece = Vector<Result, TS_VECTOR, TS_ALIGN>;
  const int64 across = width / TS_VECTOR;  // pieces of a line: where they are few, lines share a block
  const int lines_at_once = across >= 256 ? 1 : 256 / static_cast<int>(across);
  const int threads_a_line = across >= 256 ? 256 : static_cast<int>(across);
  const int line = threadIdx.x / threads_a_line;
  const bool reads = !is_zero(beta);
  if (line >= lines_at_once) return;
  for (int64 i = static_cast<int64>(blockIdx.x) * lines_at_once + line; i < lines;
       i += static_cast<int64>(gridDim.x) * lines_at_once)
    for (int64 j = threadIdx.x - line * threads_a_line; j < across; j += threads_a_line) {
      Piece* const at = reinterpret_cast<Piece*>(a + i * ld + j * TS_VECTOR);
      Piece piece{};
      if (reads) {
        piece = *at;
#pragma unroll
        for (int k = 0; k < TS_VECTOR; ++k) piece.part[k] = mul(beta, piece.part[k]);
      }
      *at = piece;
    }
}
