// X = X R^-1 in place, R upper triangular, TS_P x TS_P; a thread solves a row, TS_COLS columns at a time.
// TS_ACCESS says how X is reached: 0 where it is, element by element, which suits a column-major X; 1 TS_ROWS rows at
// a time through shared memory, so that a row-major X is read and written in its own order; 2 a whole narrow row at
// once, TS_VECTOR elements of alignment TS_ALIGN by one instruction. TS_FACTOR_SHARED: R fits into shared memory.
// TS_TOGETHER: rows that a thread has under way at the same time.
#include "tallskinny/gemm/device/element.cuh"

constexpr int columns = TS_COLS;
constexpr int together = TS_TOGETHER;
constexpr int padded = (TS_P + columns - 1) / columns * columns;
constexpr int staged_ld = TS_P | 1;  // odd: lanes that read a column of the tile hit different banks

/// 1 / r = inverse * scale, where scale is a power of two that keeps the inverse an ordinary number.
struct Reciprocal {
  Result inverse;
  Real scale;
};

__device__ __forceinline__ double power_near(
    double x) {  // 2^-k with x 2^-k in [1, 2); 1 for zero, infinity and NaN
  return x > 0 && x < __longlong_as_double(0x7ff0000000000000ll)
             ? scalbn(1.0, -max(-1022, min(1022, ilogb(x))))
             : 1.0;
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

__device__ __forceinline__ Real negate(Real x) {
  return -x;
}
__device__ __forceinline__ Complex<Real> negate(Complex<Real> x) {
  return {-x.re, -x.im};
}
__device__ __forceinline__ Real times(Real x, Real scale) {
  return x * scale;
}
__device__ __forceinline__ Complex<Real> times(Complex<Real> x, Real scale) {
  return {x.re * scale, x.im * scale};
}

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
    return k <= j && j < TS_P ? r[k * row_stride + j * col_stride] : Result{};
  }
  __device__ __forceinline__ Reciprocal reciprocal(int k) const {
    return k < TS_P ? reciprocal_of((*this)(k, k)) : Reciprocal{};
  }
};

/// One row x of P elements, `stride` apart: x_j = (x_j - sum_{k < j} x_k R(k, j)) / R(j, j).
template <class Factor>
__device__ __forceinline__ void solve_row(Result* x, int64 stride, const Factor& factor) {
#pragma unroll(TS_ACCESS == 2 ? TS_P : 1)  // a row in registers has no run-time indices
  for (int first = 0; first < TS_P; first += columns) {
    Result part[columns];
#pragma unroll
    for (int j = 0; j < columns; ++j) part[j] = first + j < TS_P ? x[(first + j) * stride] : Result{};
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
      if (first + j < TS_P) x[(first + j) * stride] = part[j];
  }
}

#if TS_ACCESS == 2
struct Row {
  using Piece = Vector<Result, TS_VECTOR, TS_ALIGN>;
  Piece pieces[TS_P / TS_VECTOR];
  __device__ __forceinline__ void load(const Result* from) {
#pragma unroll
    for (int i = 0; i < TS_P / TS_VECTOR; ++i)
      pieces[i] = *reinterpret_cast<const Piece*>(from + i * TS_VECTOR);
  }
  __device__ __forceinline__ void store(Result* to) const {
#pragma unroll
    for (int i = 0; i < TS_P / TS_VECTOR; ++i) *reinterpret_cast<Piece*>(to + i * TS_VECTOR) = pieces[i];
  }
};

template <class Factor>
__device__ __forceinline__ void solve_rows(Result* x, int64 rows, int64 row_stride, const Factor& factor) {
  const int64 step = static_cast<int64>(gridDim.x) * (together * TS_ROWS);
  for (int64 i = static_cast<int64>(blockIdx.x) * (together * TS_ROWS) + threadIdx.x; i < rows; i += step) {
    Row row[together];
#pragma unroll
    for (int u = 0; u < together; ++u)
      if (i + u * TS_ROWS < rows) row[u].load(x + (i + u * TS_ROWS) * row_stride);
#pragma unroll
    for (int u = 0; u < together; ++u) {
      solve_row(&row[u].pieces[0].part[0], 1, factor);
      if (i + u * TS_ROWS < rows) row[u].store(x + (i + u * TS_ROWS) * row_stride);
    }
  }
}
#endif

extern "C" __global__ void __launch_bounds__(TS_ROWS, TS_BLOCKS)
    trsm(Result* x, int64 rows, int64 row_stride, int64 col_stride, const Result* r, int64 r_row_stride,
         int64 r_col_stride) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int thread = threadIdx.x;
#if TS_FACTOR_SHARED
  Result* const near = reinterpret_cast<Result*>(memory);
  Reciprocal* const reciprocals = reinterpret_cast<Reciprocal*>(near + padded * padded);
  Result* const tile = reinterpret_cast<Result*>(reciprocals + padded);
  for (int e = thread; e < padded * padded; e += TS_ROWS) {
    const int k = e / padded, j = e % padded;
    near[e] = k <= j && j < TS_P ? r[k * r_row_stride + j * r_col_stride] : Result{};
  }
  for (int k = thread; k < padded; k += TS_ROWS)
    reciprocals[k] = k < TS_P ? reciprocal_of(r[k * (r_row_stride + r_col_stride)]) : Reciprocal{};
  __syncthreads();
  const SharedFactor factor = {near, reciprocals};
#else
  Result* const tile = reinterpret_cast<Result*>(memory);
  const FarFactor factor = {r, r_row_stride, r_col_stride};
#endif

#if TS_ACCESS == 2
  solve_rows(x, rows, row_stride, factor);
#else
  constexpr int tile_rows = together * TS_ROWS;
  for (int64 first = static_cast<int64>(blockIdx.x) * tile_rows; first < rows;
       first += static_cast<int64>(gridDim.x) * tile_rows) {
    const int count = static_cast<int>(min(static_cast<int64>(tile_rows), rows - first));
#if TS_ACCESS == 1
    Result* const from = x + first * row_stride;
#pragma unroll 8
    for (int e = thread; e < count * TS_P; e += TS_ROWS)
      tile[e / TS_P * staged_ld + e % TS_P] = from[e / TS_P * row_stride + e % TS_P];
    __syncthreads();
#pragma unroll 1
    for (int row = thread; row < count; row += TS_ROWS) solve_row(tile + row * staged_ld, 1, factor);
    __syncthreads();
#pragma unroll 4
    for (int e = thread; e < count * TS_P; e += TS_ROWS)
      from[e / TS_P * row_stride + e % TS_P] = tile[e / TS_P * staged_ld + e % TS_P];
    __syncthreads();
#else
#pragma unroll 1
    for (int row = thread; row < count; row += TS_ROWS)
      solve_row(x + (first + row) * row_stride, col_stride, factor);
#endif
  }
#endif
}
