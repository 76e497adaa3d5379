// Candidates, which are rows, made ready for heads_tiles.cuh, a warp a candidate: chunk by chunk the eights of columns
// of all its candidates, their negated heads and a step of columns for limits (seed_limits.cuh):
//   o1 o2 o3 -1 -1 -1 -A -B 0   (float16 parts of ||c||^2 / 2; A = ||f||, B = ||k|| + ||f||, rounded up)
#include "tallskinny/gemm/assign/scores/kernels/assign_halves.cuh"
#include "tallskinny/gemm/assign/scores/kernels/heads_norms.cuh"

constexpr unsigned sign = 0x8000;
constexpr int warps = policy.threads / 32, chunk = ts::cuda::heads_chunk;
constexpr float far = 60000;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_candidates(ts::cuda::SeedCandidatesArguments a) {
  const int q = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (q >= a.padded) return;
  const bool real = q < a.count;
  const int64 row = real ? a.numbers[q] : 0;
  const auto at = [&](int j) {
    return static_cast<int64>(q / chunk) * chunk * (a.m + ts::cuda::limit_columns) + (j / 8 * chunk + q % chunk) * 8 +
           j % 8;
  };
  auto* const chunks = static_cast<unsigned short*>(a.chunks);
  const auto* const head = static_cast<const unsigned short*>(a.heads) + row * a.m;
  for (int j = lane; j < a.m; j += 32) chunks[at(j)] = real ? static_cast<unsigned short>(head[j] ^ sign) : 0;
  if (lane >= ts::cuda::limit_columns) return;
  const ts::cuda::SeedNorms norms = a.norms[row];
  double origin = real ? norms.squared / 2 : far;
  unsigned short bits = 0;
  for (int part = 0; part < 3; ++part) {
    const auto next = static_cast<unsigned short>(halves(static_cast<float>(origin), 0));
    if (lane == part) bits = next;
    origin -= static_cast<double>(widen(Half{next}));
  }
  if (lane >= 3 && lane < 6) bits = static_cast<unsigned short>(halves(-1, 0));
  if (lane == 6) bits = half_up(norms.rest) | sign;
  if (lane == 7) bits = half_up(__fadd_ru(norms.head, norms.rest)) | sign;
  chunks[at(a.m + lane)] = bits;
}
