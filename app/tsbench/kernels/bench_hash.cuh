// A sum of hashes of all 32-bit words of a matrix and their places, which equals another only where all bits
// do: *sum += that of `lines` lines of `length` words, ld words apart. Integers may be added in any order.
#include "tallskinny/gemm/device/element.cuh"

extern "C" __global__ void __launch_bounds__(256, 4)
    bench_hash(const uint32* a, int64 lines, int64 length, int64 ld, uint64* sum) {
  const int64 count = lines * length, stride = static_cast<int64>(gridDim.x) * 256;
  uint64 mine = 0;
  for (int64 e = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x; e < count; e += stride) {
    const int64 l = e / length;
    uint64 z = (static_cast<uint64>(e) << 32 ^ static_cast<uint64>(e) >> 32 ^ a[l * ld + (e - l * length)]) *
               0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    mine += z ^ (z >> 31);
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
