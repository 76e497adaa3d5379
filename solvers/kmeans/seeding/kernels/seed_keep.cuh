// Marks each row with probability factor w D^2, by the random number of its place among the rows of all ranks
// (solvers/random.hpp): a thread a row, a bit each.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/philox.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_keep(ts::cuda::SeedKeepArguments a) {
  const int64 i = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  bool kept = false;
  if (i < a.count) {
    const double weight = a.weights == nullptr ? 1.0 : a.weights[i],
                 squared = a.squared == nullptr ? 1.0 : a.squared[i];
    const double probability = __dmul_rn(a.factor, __dmul_rn(weight, squared));
    kept = probability > 0 && uniform(philox(static_cast<uint64>(a.first_row + i), a.stream, a.key)) < probability;
  }
  const uint32 word = __ballot_sync(~0u, kept);
  if (threadIdx.x % 32 == 0 && i < a.count) a.marks[i / 32] = word;
}
