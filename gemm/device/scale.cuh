// A = beta A; beta = 0 never reads.
#include "tallskinny/gemm/device/element.cuh"

using Piece = Vector<Result, policy.vector, policy.alignment>;

__device__ __forceinline__ void scale_piece(Result* at, Result beta, bool reads) {
  Piece* const place = reinterpret_cast<Piece*>(at);
  Piece piece{};
  if (reads) {
    piece = *place;
#pragma unroll
    for (int k = 0; k < policy.vector; ++k) piece.part[k] = mul(beta, piece.part[k]);
  }
  *place = piece;
}

extern "C" __global__ void __launch_bounds__(policy.threads, 4)
    scale(const __grid_constant__ ts::cuda::ScaleArguments<Result> s) {
  Result* const a = s.a;
  const int64 lines = s.lines, width = s.width, ld = s.ld;
  const Result beta = s.beta;
  const int64 across = width / policy.vector;
  const bool reads = !is_zero(beta);
  if (across < 256) {  // several lines share a block
    const int pieces = static_cast<int>(across), lines_at_once = 256 / pieces, line = threadIdx.x / pieces;
    if (line >= lines_at_once) return;
    for (int64 i = static_cast<int64>(blockIdx.x) * lines_at_once + line; i < lines;
         i += static_cast<int64>(gridDim.x) * lines_at_once)
      scale_piece(a + i * ld + threadIdx.x % pieces * policy.vector, beta, reads);
    return;
  }
  for (int64 i = 0; i < lines; ++i)  // all blocks share a line
    for (int64 j = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x; j < across;
         j += static_cast<int64>(gridDim.x) * 256)
      scale_piece(a + i * ld + j * policy.vector, beta, reads);
}
