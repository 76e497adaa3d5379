// How often each of `count` numbers is among those given. TS_SHARED 1: a block counts in shared memory first.
using uint64 = unsigned long long;

extern "C" __global__ void __launch_bounds__(256, 2)
    seed_count(const int* numbers, long long size, int count, uint64* counts) {
#if TS_SHARED
  extern __shared__ unsigned int here[];
  for (int m = threadIdx.x; m < count; m += 256) here[m] = 0;
  __syncthreads();
#endif
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < size;
       i += static_cast<long long>(gridDim.x) * 256) {
#if TS_SHARED
    atomicAdd(&here[numbers[i]], 1u);
#else
    atomicAdd(&counts[numbers[i]], uint64(1));
#endif
  }
#if TS_SHARED
  __syncthreads();
  for (int m = threadIdx.x; m < count; m += 256)
    if (here[m] != 0) atomicAdd(&counts[m], static_cast<uint64>(here[m]));
#endif
}
