// Centroids made ready for projection_tiles.cuh and for scores of those that it leaves, a warp a centroid: negated in
// float16, row by row, with the origins of their scores; and chunk by chunk, 16 bytes of columns of all its centroids
// after another, their negated projections (float16, or integers of 8 bits, `per` times as large) and a step of columns
// for limits:
//   o1 o2 o3 -1 -1 -1 -A -B -C   (float16 parts of the origin ||c||^2 / 2, and norms rounded up; all times `per`)
// A is what rounding leaves of the projection, B both, and C the residual; what float64 loses is made up for by 2^-30.
// Projections are G^-1 Q^T c (projection_rows.cuh), off by at most `off` ||c||, of whose square at least (1 - delta)
// times as much lies along the axes.
#include "tallskinny/gemm/device/warp.cuh"
#include "tallskinny/solvers/kmeans/pass/filter/kernels/projection_norms.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

constexpr unsigned sign = 0x8000;
constexpr int warps = policy.threads / 32, chunk = ts::cuda::projection_chunk;
constexpr float never = 1e30f, far = 60000;
constexpr bool int8 = policy.numbers == ts::ProjectionNumbers::int8;

__device__ __forceinline__ unsigned short half_of(double x) {
  return static_cast<unsigned short>(halves(static_cast<float>(x), 0));
}
__device__ __forceinline__ double number_of(unsigned short bits) { return widen(Half{bits}); }

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    projection_centroids(ts::cuda::ProjectionCentroidsArguments a) {
  const int m = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  const int most = a.padded > a.count ? a.padded : a.count + 1;
  if (m >= most) return;
  const bool counts = m < a.count && a.half_norms[m] < never;
  const int64 row = m;
  double all = 0;
  for (int j = lane; j < 16 * a.steps; j += 32) {
    const double c = counts && j < a.d ? (a.centroids[row * a.d + j] - a.shift[j]) * a.scale : 0;
    all += c * c;
    if (m <= a.count) static_cast<unsigned short*>(a.by_rows)[row * 16 * a.steps + j] = half_of(-c);
  }
  all = sum_of_warp(all);
  const int projection_bytes = (int8 ? 1 : 2) * a.m;
  /// The place of a byte of the centroid.
  const auto at = [&](int byte) {
    return static_cast<unsigned char*>(a.chunks) +
           static_cast<int64>(m / chunk) * chunk * (projection_bytes + 2 * ts::cuda::limit_columns) +
           (byte / 16 * chunk + m % chunk) * 16 + byte % 16;
  };
  const auto turned_at = [&](int j) { return counts ? (a.turned[row * a.m + j] - a.moved_shift[j]) * a.scale : 0; };
  double per = 1;
  if constexpr (int8) {
    float most = 0;
    for (int j = lane; j < a.m; j += 32) most = fmaxf(most, fabsf(static_cast<float>(turned_at(j))));
    if (counts) per = per_of(largest_of_warp(most), static_cast<float>(sqrt(all)));
  }
  double turned = 0, projection = 0, rounding = 0;
  for (int j = lane; j < a.m; j += 32) {
    const double y = turned_at(j), wanted = -y * per;
    double h;
    if constexpr (int8) {
      h = rint(wanted);
      if (m < a.padded) *reinterpret_cast<signed char*>(at(j)) = static_cast<signed char>(h);
    } else {
      const unsigned short bits = half_of(wanted);
      h = number_of(bits);
      if (m < a.padded) *reinterpret_cast<unsigned short*>(at(2 * j)) = bits;
    }
    turned += y * y, projection += h * h, rounding += (wanted - h) * (wanted - h);
  }
  turned = sum_of_warp(turned), projection = sum_of_warp(projection), rounding = sum_of_warp(rounding);
  if (lane == 0 && m <= a.count) a.own_origins[m] = m < a.count ? a.origins[m] : a.beyond;
  if (lane >= ts::cuda::limit_columns || m >= a.padded) return;
  constexpr double up = 1 + 0x1p-20;
  const double norm_of_all = sqrt(all), off = (a.off + 0x1p-30) * norm_of_all;
  const double along = fmax(sqrt(turned) - off, 0.0), residual = all - a.held * along * along + 0x1p-30 * all,
               left = sqrt(rounding) * up + off * per;
  double origin = counts ? all / 2 * per : far;
  unsigned short bits = 0;
  for (int part = 0; part < 3; ++part) {
    const unsigned short next = half_of(origin);
    if (lane == part) bits = next;
    origin -= number_of(next);
  }
  if (lane >= 3 && lane < 6) bits = half_of(-per);
  const double norm = lane == 6   ? left
                      : lane == 7 ? sqrt(projection) * up + left
                                  : sqrt(residual > 0 ? residual : 0) * per * up;
  if (lane >= 6 && lane < 9) bits = half_up(static_cast<float>(norm) * (1 + 0x1p-20f)) | sign;
  *reinterpret_cast<unsigned short*>(at(projection_bytes + 2 * lane)) = bits;
}
