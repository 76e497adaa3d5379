// Marks each row with probability factor w D^2, by the random number of its place (solvers/random.hpp): a thread a row, a bit
// each.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"
#include "tallskinny/gemm/device/philox.cuh"

using Score = TS_SCORE;

extern "C" __global__ void __launch_bounds__(256, 2)
    seed_keep(const Score* squared, const double* weights, int64 count, double factor, uint64 stream,
              uint64 key, uint32* marks) {
  const int64 i = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
  bool kept = false;
  if (i < count) {
    const double weight = weights == nullptr ? 1.0 : weights[i];
    const double probability = __dmul_rn(factor, __dmul_rn(weight, static_cast<double>(squared[i])));
    kept = probability > 0 && uniform(philox(static_cast<uint64>(i), stream, key)) < probability;
  }
  const uint32 word = __ballot_sync(~0u, kept);
  if (threadIdx.x % 32 == 0 && i < count) marks[i / 32] = word;
}
