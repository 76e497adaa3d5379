// R = A X - X diag(theta) in sums of products whose rounding errors are summed beside them (Ogita, Rump and Oishi 2005,
// algorithm 5.3): step by step what the host does, so that rows of a single team have the host's bits. Teams of lanes
// share the entries of a row, and those of a block the rows that are long; both add up in a fixed order.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/twofold.cuh"

using Index = Choose<policy.index_bytes == 4, int, int64>::type;
using Arguments = ts::cuda::ResidualArguments;

constexpr int warp = 32, threads = policy.threads, lanes = policy.lanes, group = policy.group(), unroll = policy.unroll;
constexpr int rows_of_block = threads / group, warps = threads / warp, teams_of_block = threads / lanes;
constexpr uint32 all_lanes = 0xffffffffu;

/// A sum, and that of its rounding errors.
struct Dot {
  double sum, error;

  __device__ __forceinline__ void add_product(double a, double b) {
    const double product = __dmul_rn(a, b);
    const Twofold next = two_sum(sum, product);
    error = __dadd_rn(error, __dadd_rn(__fma_rn(a, b, -product), next.low));
    sum = next.high;
  }
  __device__ __forceinline__ void operator+=(const Dot& other) {
    const Twofold next = two_sum(sum, other.sum);
    error = __dadd_rn(__dadd_rn(error, other.error), next.low);
    sum = next.high;
  }
  [[nodiscard]] __device__ __forceinline__ Real value() const { return static_cast<Real>(__dadd_rn(sum, error)); }
};

/// An element of R, part by part.
struct Dots {
  Dot part[parts];

  __device__ __forceinline__ void operator+=(const Dots& other) {
#pragma unroll
    for (int p = 0; p < parts; ++p) part[p] += other.part[p];
  }
};

__device__ __forceinline__ void add_product(Dots& to, Real a, Real x) { to.part[0].add_product(a, x); }
template <class R>
__device__ __forceinline__ void add_product(Dots& to, R a, Complex<R> x) {
  to.part[0].add_product(a, x.re), to.part[1].add_product(a, x.im);
}
template <class R>
__device__ __forceinline__ void add_product(Dots& to, Complex<R> a, Complex<R> x) {
  to.part[0].add_product(a.re, x.re), to.part[0].add_product(-a.im, x.im);
  to.part[1].add_product(a.re, x.im), to.part[1].add_product(a.im, x.re);
}

__device__ __forceinline__ void write_value(const Dots& dots, Real& r) { r = dots.part[0].value(); }
template <class R>
__device__ __forceinline__ void write_value(const Dots& dots, Complex<R>& r) {
  r = {dots.part[0].value(), dots.part[1].value()};
}

__device__ __forceinline__ Element x_at(const Arguments& a, int64 i, int64 j) {
  return static_cast<const Element*>(a.x.data)[i * a.x.row_stride + j * a.x.column_stride];
}

/// Of column j, the entries begin, begin + step, ... before `end`, `unroll` of them under way at the same time.
__device__ __forceinline__ Dots dots_of(const Arguments& a, int64 begin, int64 end, int step, int64 j) {
  const Index* const indices = static_cast<const Index*>(a.a.indices);
  const Element* const values = static_cast<const Element*>(a.a.values);
  Dots dots = {};
  if (j >= a.columns) return dots;
  for (int64 e = begin; e < end; e += step * unroll) {
    Element value[unroll], x[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u)
      if (const int64 at = e + u * step; at < end) value[u] = values[at], x[u] = x_at(a, indices[at], j);
#pragma unroll
    for (int u = 0; u < unroll; ++u)
      if (e + u * step < end) add_product(dots, value[u], x[u]);
  }
  return dots;
}

/// Adds up what teams have that are less than `width` lanes from each other.
template <int width>
__device__ __forceinline__ void add_teams(Dots& dots) {
#pragma unroll
  for (int distance = width / 2; distance >= lanes; distance /= 2) {
    Dots other;
#pragma unroll
    for (int p = 0; p < parts; ++p)
      other.part[p] = {__shfl_xor_sync(all_lanes, dots.part[p].sum, distance),
                       __shfl_xor_sync(all_lanes, dots.part[p].error, distance)};
    dots += other;
  }
}

/// R(i, j) = dots - theta_j X(i, j)
__device__ __forceinline__ void store(const Arguments& a, int64 i, int64 j, Dots& dots) {
  add_product(dots, static_cast<Real>(-a.theta[j]), x_at(a, i, j));
  write_value(dots, static_cast<Element*>(a.r.data)[i * a.r.row_stride + j * a.r.column_stride]);
}

/// Row i by all threads of the block.
__device__ __forceinline__ void long_row(const Arguments& a, int64 i, int64 begin, int64 end) {
  __shared__ Dots sums[warps][lanes];
  const int lane = threadIdx.x % lanes;
  for (int64 first = 0; first < a.columns; first += lanes) {
    Dots dots = dots_of(a, begin + threadIdx.x / lanes, end, teams_of_block, first + lane);
    add_teams<warp>(dots);
    if (threadIdx.x % warp < lanes) sums[threadIdx.x / warp][lane] = dots;
    __syncthreads();
    if (threadIdx.x < lanes && first + lane < a.columns) {
      for (int w = 1; w < warps; ++w) dots += sums[w][lane];
      store(a, i, first + lane, dots);
    }
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(threads, policy.blocks())
    residual_rows(const __grid_constant__ Arguments a) {
  constexpr int64 longest = static_cast<int64>(policy.longest_of_team) * policy.split;
  const int lane = threadIdx.x % lanes, team = threadIdx.x % group / lanes;
  const int64 first_row = static_cast<int64>(blockIdx.x) * rows_of_block, i = first_row + threadIdx.x / group;
  const bool inside = i < a.rows;  // all lanes go on, so that they can shuffle
  const int64 begin = inside ? a.a.pointers[i] : 0, end = inside ? a.a.pointers[i + 1] : 0;
  const bool is_long = end - begin > longest;
  for (int64 first = 0; first < a.columns; first += lanes) {
    const int64 j = first + lane;
    Dots dots = dots_of(a, begin + team, is_long ? begin : end, policy.split, j);
    add_teams<group>(dots);
    if (inside && !is_long && team == 0 && j < a.columns) store(a, i, j, dots);
  }
  if (!__syncthreads_or(is_long)) return;
  for (int64 row = first_row; row < a.rows && row < first_row + rows_of_block; ++row) {
    const int64 row_begin = a.a.pointers[row], row_end = a.a.pointers[row + 1];
    if (row_end - row_begin > longest) long_row(a, row, row_begin, row_end);
  }
}
