// Marks each row with probability factor w D^2, by the random number of its place (solvers/random.hpp): a thread a row, a bit
// each.
#include "assign_rows.cuh"

using Score = TS_SCORE;

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), of which the first 64 bits make a uniform number in [0, 1).
__device__ __forceinline__ double uniform(uint64 counter, uint64 stream, uint64 key) {
  uint32 c0 = static_cast<uint32>(counter), c1 = static_cast<uint32>(counter >> 32);
  uint32 c2 = static_cast<uint32>(stream), c3 = static_cast<uint32>(stream >> 32);
  uint32 k0 = static_cast<uint32>(key), k1 = static_cast<uint32>(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64 a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<uint32>(b >> 32) ^ c1 ^ k0, c1 = static_cast<uint32>(b);
    c2 = static_cast<uint32>(a >> 32) ^ c3 ^ k1, c3 = static_cast<uint32>(a);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  const uint64 bits = static_cast<uint64>(c1) << 32 | c0;
  return __dmul_rn(static_cast<double>(bits >> 11), 0x1p-53);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    seed_keep(const Score* squared, const double* weights, int64 count, double factor, uint64 stream, uint64 key, uint32* marks) {
  const int64 i = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
  bool kept = false;
  if (i < count) {
    const double weight = weights == nullptr ? 1.0 : weights[i];
    const double probability = __dmul_rn(factor, __dmul_rn(weight, static_cast<double>(squared[i])));
    kept = probability > 0 && uniform(static_cast<uint64>(i), stream, key) < probability;
  }
  const uint32 word = __ballot_sync(~0u, kept);
  if (threadIdx.x % 32 == 0 && i < count) marks[i / 32] = word;
}
