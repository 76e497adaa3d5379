// Centroids, and facts about them for the host, from the sums of their rows. A warp takes a cluster, its lanes side by
// side over the columns. Partial sums of columns that are equal modulo 32 are exchanged in the end, as the host adds
// them (solvers/kmeans/pass/sums/means.hpp). policy.move: `means` get the means of the rows where these weigh anything,
// the centroids otherwise.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/twofold.cuh"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"

constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.threads / 32;

__device__ __forceinline__ double top(uint64 limb) {
  return __dmul_rn(static_cast<double>(static_cast<int>(limb >> 32)), 0x1p32);
}
__device__ __forceinline__ double bottom(uint64 limb) { return static_cast<double>(static_cast<uint32>(limb)); }
/// upper + lower 2^-bits, exactly; as ClusterSums has it.
__device__ __forceinline__ Twofold join(uint64 upper, uint64 lower, double inverse) {
  const Twofold whole = two_sum(top(upper), __dadd_rn(bottom(upper), __dmul_rn(top(lower), inverse)));
  return two_sum(whole.high, __dadd_rn(whole.low, __dmul_rn(bottom(lower), inverse)));
}

/// The rounding error of a b rounded to p, with the lower parts of both.
__device__ __forceinline__ double rest_of_product(Twofold a, Twofold b, double p) {
  return __dadd_rn(__fma_rn(a.high, b.high, -p), __dadd_rn(__dmul_rn(a.high, b.low), __dmul_rn(a.low, b.high)));
}

/// ClusterSums::mean(), with the same bits; share: 1 / weight.
__device__ __forceinline__ double mean_of(Twofold sum, Twofold share, double from_units, double shift) {
  const double p = __dmul_rn(sum.high, share.high);
  const Twofold mean = two_sum(__dmul_rn(p, from_units), shift);
  return __dadd_rn(mean.high, __dadd_rn(mean.low, __dmul_rn(rest_of_product(sum, share, p), from_units)));
}

/// so_far + (c - shift) ((c - shift) weight - 2 sum), both parts of so_far apart; as inertia_term() of
/// solvers/kmeans/pass/cpu/means.ipp.
__device__ __forceinline__ Twofold add_inertia(Twofold so_far, Twofold from_shift, Twofold weight, Twofold sum,
                                               double minus_twice) {
  const double p = __dmul_rn(from_shift.high, weight.high), rest = rest_of_product(from_shift, weight, p);
  Twofold factor = two_sum(p, __dmul_rn(sum.high, minus_twice));
  factor.low = __dadd_rn(factor.low, __dadd_rn(rest, __dmul_rn(sum.low, minus_twice)));
  const double term = __dmul_rn(from_shift.high, factor.high), term_low = rest_of_product(from_shift, factor, term);
  const Twofold next = two_sum(so_far.high, term);
  return {next.high, __dadd_rn(so_far.low, __dadd_rn(next.low, term_low))};
}

__device__ __forceinline__ double from_lane(double x, int step) { return __shfl_xor_sync(everyone, x, step); }
__device__ __forceinline__ Twofold from_lane(const Twofold& x, int step) {
  return {from_lane(x.high, step), from_lane(x.low, step)};
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_means(ts::cuda::MeansArguments a) {
  const auto& [sums, k, d, scale, centroids, means, updates] = a;
  const int m = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (m >= k) return;
  const Twofold weight = join(sums.weight_upper[m], sums.weight_lower[m], sums.inverse);
  const Twofold of_one = {__dmul_rn(weight.high, sums.inverse), __dmul_rn(weight.low, sums.inverse)};
  const bool weighs = weight.high != 0;
  const Twofold share = weighs ? Twofold{1, 0} / weight : Twofold{0, 0};
  double squared_step = 0, max_abs = 0, squared = 0;
  Twofold inertia = {0, 0};
  for (int j = lane; j < d; j += 32) {
    const int64 at = static_cast<int64>(m) * d + j;
    const double shift = sums.shift[j];
    double c = centroids[at];
    if (weighs) {
      const Twofold sum = join(sums.upper[at], sums.lower[at], sums.inverse);
      const double from_units = sums.from_units[j];
      if constexpr (policy.move) {
        const double mean = mean_of(sum, share, from_units, shift), step = __dsub_rn(mean, c);
        squared_step = __dadd_rn(squared_step, __dmul_rn(step, step));
        c = mean;
      }
      inertia =
          add_inertia(inertia, two_sum(c, -shift), of_one, sum, __dmul_rn(from_units, __dmul_rn(-2, sums.inverse)));
    }
    if constexpr (policy.move) means[at] = c;
    if (j == 0) means[static_cast<int64>(k) * d + m] = c;  // the first column of all, side by side
    const double centred = c - shift;
    max_abs = fmax(max_abs, fabs(centred));
    squared += centred * scale * (centred * scale);
  }
  inertia = two_sum(inertia.high, inertia.low);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    squared_step = __dadd_rn(squared_step, from_lane(squared_step, step));
    inertia = inertia + from_lane(inertia, step);
    max_abs = fmax(max_abs, from_lane(max_abs, step));
    squared += from_lane(squared, step);
  }
  if (lane == 0) updates[m] = {weight.high, squared_step, inertia.high, inertia.low, max_abs, squared};
}
