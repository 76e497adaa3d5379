// X = X R^-1 in place, R upper triangular.
#include "tallskinny/gemm/device/element.cuh"

constexpr int p = policy.p, columns = policy.columns, together = policy.together, threads = policy.threads;
constexpr int padded = policy.padded(), staged_ld = policy.staged_ld(), tile_rows = policy.tile_rows();
constexpr bool whole_rows = policy.access == ts::cuda::TrsmAccess::whole_rows;
constexpr bool staged = policy.access == ts::cuda::TrsmAccess::staged;

/// 1 / r = inverse * scale, where scale is a power of two that keeps the inverse an ordinary number.
struct Reciprocal {
  Result inverse;
  Real scale;
};

__device__ __forceinline__ double power_near(double x) {  // 2^-k with x 2^-k in [1, 2); 1 for zero, infinity and NaN
  return x > 0 && x < __longlong_as_double(0x7ff0000000000000ll) ? scalbn(1.0, -max(-1022, min(1022, ilogb(x)))) : 1.0;
}
__device__ __forceinline__ float power_near(float x) {
  return x > 0 && x < __int_as_float(0x7f800000) ? scalbnf(1.0f, -max(-126, min(126, ilogbf(x)))) : 1.0f;
}
template <class R>
__device__ __forceinline__ Reciprocal reciprocal_of(R r) {
  const R scale = power_near(fabs(r));
  return {R(1) / (r * scale), scale};
}
template <class R>
__device__ __forceinline__ Reciprocal reciprocal_of(Complex<R> r) {
  const R scale = power_near(fmax(fabs(r.re), fabs(r.im)));
  const R re = r.re * scale, im = r.im * scale, square = re * re + im * im;
  return {{re / square, -im / square}, scale};
}

__device__ __forceinline__ Real negate(Real x) { return -x; }
__device__ __forceinline__ Complex<Real> negate(Complex<Real> x) { return {-x.re, -x.im}; }
__device__ __forceinline__ Real times(Real x, Real scale) { return x * scale; }
__device__ __forceinline__ Complex<Real> times(Complex<Real> x, Real scale) { return {x.re * scale, x.im * scale}; }

/// R in shared memory, zero below the diagonal and beyond its last column.
struct SharedFactor {
  const Result* r;
  const Reciprocal* reciprocals;
  __device__ __forceinline__ Result operator()(int k, int j) const { return r[k * padded + j]; }
  __device__ __forceinline__ Reciprocal reciprocal(int k) const { return reciprocals[k]; }
};
/// R where it is.
struct FarFactor {
  const Result* r;
  int64 row_stride, col_stride;
  __device__ __forceinline__ Result operator()(int k, int j) const {
    return k <= j && j < p ? r[k * row_stride + j * col_stride] : Result{};
  }
  __device__ __forceinline__ Reciprocal reciprocal(int k) const {
    return k < p ? reciprocal_of((*this)(k, k)) : Reciprocal{};
  }
};

/// One row x of P elements, `stride` apart: x_j = (x_j - sum_{k < j} x_k R(k, j)) / R(j, j).
template <class Factor>
__device__ __forceinline__ void solve_row(Result* x, int64 stride, const Factor& factor) {
#pragma unroll(whole_rows ? p : 1)  // a row in registers has no run-time indices
  for (int first = 0; first < p; first += columns) {
    Result part[columns];
#pragma unroll
    for (int j = 0; j < columns; ++j) part[j] = first + j < p ? x[(first + j) * stride] : Result{};
#pragma unroll 1
    for (int k = 0; k < first; ++k) {
      const Result solved = negate(x[k * stride]);
#pragma unroll
      for (int j = 0; j < columns; ++j) part[j] = madd(solved, factor(k, first + j), part[j]);
    }
#pragma unroll
    for (int k = 0; k < columns; ++k) {
      const Reciprocal own = factor.reciprocal(first + k);
      part[k] = times(mul(part[k], own.inverse), own.scale);
      const Result solved = negate(part[k]);
#pragma unroll
      for (int j = k + 1; j < columns; ++j) part[j] = madd(solved, factor(first + k, first + j), part[j]);
    }
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if (first + j < p) x[(first + j) * stride] = part[j];
  }
}

struct Row {
  using Piece = Vector<Result, policy.vector, policy.alignment>;
  Piece pieces[p / policy.vector];
  __device__ __forceinline__ void load(const Result* from) {
#pragma unroll
    for (int i = 0; i < p / policy.vector; ++i) pieces[i] = *reinterpret_cast<const Piece*>(from + i * policy.vector);
  }
  __device__ __forceinline__ void store(Result* to) const {
#pragma unroll
    for (int i = 0; i < p / policy.vector; ++i) *reinterpret_cast<Piece*>(to + i * policy.vector) = pieces[i];
  }
};

template <class Factor>
__device__ __forceinline__ void solve_whole_rows(Result* x, int64 rows, int64 row_stride, const Factor& factor) {
  const int64 step = static_cast<int64>(gridDim.x) * tile_rows;
  for (int64 i = static_cast<int64>(blockIdx.x) * tile_rows + threadIdx.x; i < rows; i += step) {
    Row row[together];
#pragma unroll
    for (int u = 0; u < together; ++u)
      if (i + u * threads < rows) row[u].load(x + (i + u * threads) * row_stride);
#pragma unroll
    for (int u = 0; u < together; ++u) {
      solve_row(&row[u].pieces[0].part[0], 1, factor);
      if (i + u * threads < rows) row[u].store(x + (i + u * threads) * row_stride);
    }
  }
}

/// `count` rows from `first` on, through `tile`.
template <class Factor>
__device__ __forceinline__ void solve_staged(Result* from, int count, int64 row_stride, Result* tile,
                                             const Factor& factor) {
  const int thread = threadIdx.x;
#pragma unroll 8
  for (int e = thread; e < count * p; e += threads) tile[e / p * staged_ld + e % p] = from[e / p * row_stride + e % p];
  __syncthreads();
#pragma unroll 1
  for (int row = thread; row < count; row += threads) solve_row(tile + row * staged_ld, 1, factor);
  __syncthreads();
#pragma unroll 4
  for (int e = thread; e < count * p; e += threads) from[e / p * row_stride + e % p] = tile[e / p * staged_ld + e % p];
  __syncthreads();
}

template <class Factor>
__device__ __forceinline__ void solve_tiles(Result* x, int64 rows, int64 row_stride, int64 column_stride, Result* tile,
                                            const Factor& factor) {
  for (int64 first = static_cast<int64>(blockIdx.x) * tile_rows; first < rows;
       first += static_cast<int64>(gridDim.x) * tile_rows) {
    const int count = static_cast<int>(min(static_cast<int64>(tile_rows), rows - first));
    if constexpr (staged) {
      solve_staged(x + first * row_stride, count, row_stride, tile, factor);
    } else {
#pragma unroll 1
      for (int row = threadIdx.x; row < count; row += threads)
        solve_row(x + (first + row) * row_stride, column_stride, factor);
    }
  }
}

template <class Factor>
__device__ __forceinline__ void solve(const ts::cuda::TrsmArguments& a, Result* tile, const Factor& factor) {
  Result* const x = static_cast<Result*>(a.x);
  if constexpr (whole_rows)
    solve_whole_rows(x, a.rows, a.row_stride, factor);
  else
    solve_tiles(x, a.rows, a.row_stride, a.column_stride, tile, factor);
}

extern "C" __global__ void __launch_bounds__(threads, policy.blocks)
    trsm(const __grid_constant__ ts::cuda::TrsmArguments a) {
  extern __shared__ __align__(16) unsigned char memory[];
  const Result* const r = static_cast<const Result*>(a.r);
  if constexpr (policy.factor_shared) {
    Result* const near = reinterpret_cast<Result*>(memory);
    Reciprocal* const reciprocals = reinterpret_cast<Reciprocal*>(near + padded * padded);
    for (int e = threadIdx.x; e < padded * padded; e += threads) {
      const int k = e / padded, j = e % padded;
      near[e] = k <= j && j < p ? r[k * a.r_row_stride + j * a.r_column_stride] : Result{};
    }
    for (int k = threadIdx.x; k < padded; k += threads)
      reciprocals[k] = k < p ? reciprocal_of(r[k * (a.r_row_stride + a.r_column_stride)]) : Reciprocal{};
    __syncthreads();
    solve(a, reinterpret_cast<Result*>(memory + policy.factor_bytes()), SharedFactor{near, reciprocals});
  } else {
    solve(a, reinterpret_cast<Result*>(memory), FarFactor{r, a.r_row_stride, a.r_column_stride});
  }
}
