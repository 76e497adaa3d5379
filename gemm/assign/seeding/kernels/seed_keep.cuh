// Marks each row with probability factor w D^2, by the random number of its place among the rows of all ranks
// (solvers/random.hpp): a thread a row, a bit each.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"
#include "tallskinny/gemm/device/philox.cuh"

using Score = Choose<policy.wide, double, float>::type;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_keep(ts::cuda::SeedKeepArguments a) {
  const auto& [of_rows, weights, count, first_row, factor, stream, key, marks] = a;
  const Score* const squared = static_cast<const Score*>(of_rows);
  const int64 i = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  bool kept = false;
  if (i < count) {
    const double weight = weights == nullptr ? 1.0 : weights[i];
    const double probability = __dmul_rn(factor, __dmul_rn(weight, static_cast<double>(squared[i])));
    kept = probability > 0 && uniform(philox(static_cast<uint64>(first_row + i), stream, key)) < probability;
  }
  const uint32 word = __ballot_sync(~0u, kept);
  if (threadIdx.x % 32 == 0 && i < count) marks[i / 32] = word;
}
