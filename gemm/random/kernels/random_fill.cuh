// Near-normal random numbers for every place of `lines` lines of `width` real numbers, `ld` apart: that of line i and place j
// belongs to the counter i 2^16 + j, whatever the grid.
// TS_TYPE: float64, or float32 for the same numbers rounded. TS_VECTOR: numbers written at once, a divisor of width. TS_ALIGN: their alignment.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/philox.cuh"

extern "C" __global__ void __launch_bounds__(256, 4)
    random_fill(Real* x, int64 lines, int width, int64 ld, uint64 stream, uint64 key) {
  using Piece = Vector<Real, TS_VECTOR, TS_ALIGN>;
  const int pieces = width / TS_VECTOR;
  const int64 count = lines * pieces, stride = static_cast<int64>(gridDim.x) * 256;
  for (int64 e = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x; e < count; e += stride) {
    const int64 i = e / pieces;
    const int j = static_cast<int>(e - i * pieces) * TS_VECTOR;
    Piece piece;
#pragma unroll
    for (int k = 0; k < TS_VECTOR; ++k)
      piece.part[k] = static_cast<Real>(
          near_normal(philox(static_cast<uint64>(i) << 16 | static_cast<uint64>(j + k), stream, key)));
    *reinterpret_cast<Piece*>(x + i * ld + j) = piece;
  }
}
