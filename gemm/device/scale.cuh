// A = beta A over `lines` lines of `width` results each, `ld` apart; beta = 0 never reads.
// TS_TYPE: the result type. TS_VECTOR: elements moved at once, a divisor of width. TS_ALIGN: their alignment.
#include "tallskinny/gemm/device/element.cuh"

using Piece = Vector<Result, TS_VECTOR, TS_ALIGN>;

__device__ __forceinline__ void scale_piece(Result* at, Result beta, bool reads) {
  Piece* const place = reinterpret_cast<Piece*>(at);
  Piece piece{};
  if (reads) {
    piece = *place;
#pragma unroll
    for (int k = 0; k < TS_VECTOR; ++k) piece.part[k] = mul(beta, piece.part[k]);
  }
  *place = piece;
}

extern "C" __global__ void __launch_bounds__(256, 4)
    scale(Result* a, int64 lines, int64 width, int64 ld, Result beta) {
  const int64 across = width / TS_VECTOR;
  const bool reads = !is_zero(beta);
  if (across < 256) {  // several lines share a block
    const int pieces = static_cast<int>(across), lines_at_once = 256 / pieces, line = threadIdx.x / pieces;
    if (line >= lines_at_once) return;
    for (int64 i = static_cast<int64>(blockIdx.x) * lines_at_once + line; i < lines;
         i += static_cast<int64>(gridDim.x) * lines_at_once)
      scale_piece(a + i * ld + threadIdx.x % pieces * TS_VECTOR, beta, reads);
    return;
  }
  for (int64 i = 0; i < lines; ++i)  // all blocks share a line
    for (int64 j = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x; j < across;
         j += static_cast<int64>(gridDim.x) * 256)
      scale_piece(a + i * ld + j * TS_VECTOR, beta, reads);
}
