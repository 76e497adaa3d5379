// Moments of one column over one chunk of rows, a thread each; rows in order, as the host adds them. The sum; or the
// largest |x - shift|, and the sum of (x - mean)^2 behind those of all chunks; or the first element that is not finite,
// as its number in row-major order.
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_moments(ts::cuda::MomentsArguments a) {
  const auto& [x, d, chunk, shift, mean, out, first] = a;
  const int64 thread = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  const int64 chunks = (x.count + chunk - 1) / chunk, begin = thread / d * chunk;
  const int j = static_cast<int>(thread % d);
  if (thread >= chunks * d) return;
  const int64 end = begin + chunk < x.count ? begin + chunk : x.count;
  using ts::cuda::MomentsRound;
  if constexpr (policy.round == MomentsRound::sum) {
    double sum = 0;
#pragma unroll 8
    for (int64 i = begin; i < end; ++i) sum = __dadd_rn(sum, value(x, i, j));
    out[thread] = sum;
  } else if constexpr (policy.round == MomentsRound::spread) {
    const double from = shift[j], centre = mean[j];
    double far = 0, squares = 0;
#pragma unroll 8
    for (int64 i = begin; i < end; ++i) {
      const double v = value(x, i, j), difference = __dsub_rn(v, centre);
      far = fmax(far, fabs(__dsub_rn(v, from)));
      squares = __dadd_rn(squares, __dmul_rn(difference, difference));
    }
    out[thread] = far, out[chunks * d + thread] = squares;
  } else {
    for (int64 i = begin; i < end; ++i)
      if (!isfinite(value(x, i, j))) {
        atomicMin(first, static_cast<uint64>(i) * d + j);
        return;
      }
  }
}
