// A sum of hashes of all 32-bit words of a matrix and their places, which equals another only where all bits
// do: *sum += that of `lines` lines of `length` words, ld words apart. Integers may be added in any order.
#include "tallskinny/gemm/device/element.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bench_hash(const __grid_constant__ ts::bench::HashArguments in) {
  const auto* const a = static_cast<const uint32*>(in.a);
  const int64 count = in.lines * in.length, stride = static_cast<int64>(gridDim.x) * policy.threads;
  uint64 mine = 0;
  for (int64 e = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x; e < count; e += stride) {
    const int64 l = e / in.length;
    uint64 z = (static_cast<uint64>(e) << 32 ^ static_cast<uint64>(e) >> 32 ^ a[l * in.ld + (e - l * in.length)]) *
               0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    mine += z ^ (z >> 31);
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(static_cast<uint64*>(in.sum), mine);
}
