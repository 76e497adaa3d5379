// Near-normal random numbers for every place of a block of real numbers: that of line i and place j belongs to the
// counter (first_line + i) 2^16 + j, whatever the grid.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/philox.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    random_fill(const __grid_constant__ ts::cuda::RandomFillArguments a) {
  using Piece = Vector<Real, policy.vector, policy.alignment>;
  const int pieces = a.width / policy.vector;
  const int64 count = a.lines * pieces, stride = static_cast<int64>(gridDim.x) * policy.threads;
  for (int64 e = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x; e < count; e += stride) {
    const int64 i = e / pieces;
    const int j = static_cast<int>(e - i * pieces) * policy.vector;
    const uint64 line = static_cast<uint64>(a.first_line + i);
    Piece piece;
#pragma unroll
    for (int k = 0; k < policy.vector; ++k)
      piece.part[k] = static_cast<Real>(near_normal(philox(line << 16 | static_cast<uint64>(j + k), a.stream, a.key)));
    *reinterpret_cast<Piece*>(static_cast<Real*>(a.x) + i * a.ld + j) = piece;
  }
}
