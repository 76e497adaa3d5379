// How often each of `count` numbers is among those given.
using uint64 = unsigned long long;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_count(ts::cuda::SeedCountArguments a) {
  const auto& [numbers, size, count, counts] = a;
  extern __shared__ unsigned int here[];
  if constexpr (policy.shared) {
    for (int m = threadIdx.x; m < count; m += policy.threads) here[m] = 0;
    __syncthreads();
  }
  for (long long i = static_cast<long long>(blockIdx.x) * policy.threads + threadIdx.x; i < size;
       i += static_cast<long long>(gridDim.x) * policy.threads) {
    if constexpr (policy.shared)
      atomicAdd(&here[numbers[i]], 1u);
    else
      atomicAdd(&counts[numbers[i]], uint64(1));
  }
  if constexpr (policy.shared) {
    __syncthreads();
    for (int m = threadIdx.x; m < count; m += policy.threads)
      if (here[m] != 0) atomicAdd(&counts[m], static_cast<uint64>(here[m]));
  }
}
