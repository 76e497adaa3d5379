// The products of project.cuh: rows are what is summed over, [V W] are the columns on the left and W those on the
// right, and the warps of a group share the tiles of 16 x 8. All sums are float64. Complex: a column is two, its real
// and its imaginary part; products are put together at the end.
#pragma once

#include "tallskinny/gemm/device/ordered_sum.cuh"
#include "tallskinny/gemm/device/parts.cuh"
#include "tallskinny/gemm/project/kernels/project_operands.cuh"

constexpr int v_tiles = policy.v_tiles(), product_rows = policy.product_rows(), product_pitch = policy.product_pitch();

__device__ __forceinline__ double scalar_at(const unsigned char* at) { return *reinterpret_cast<const Scalar*>(at); }

/// A warp's share of the products.
struct Products {
  static constexpr int tiles = policy.warp_tiles(), blocks = policy.warp_blocks();
  AccumulatorTile sum[tiles][blocks];
  int left[tiles][2], right[blocks];  ///< bytes in a slot, of this lane's first row
  int first_left, first_right;        ///< tile, block

  /// This lane's first row of a scalar column; columns beyond the last repeat it.
  template <class Side>
  static __device__ __forceinline__ int start(const Side& side, int column, int last, int t) {
    const int c = column < last ? column : last - 1;
    return side.offset(t, Side::by_columns ? c : 0) + (Side::by_columns ? c % parts : c) * Side::scalar_size;
  }
  __device__ __forceinline__ bool is_v(int tile) const { return first_left + tile < v_tiles; }

  __device__ __forceinline__ Products(const V& v, const W& w, int warp, int g, int t) : sum{} {
    constexpr int w_offset = policy.w_offset();
    first_left = warp / policy.group_right * tiles, first_right = warp % policy.group_right * blocks;
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = (first_left + i) * 16 + half * 8 + g;
        left[i][half] =
            is_v(i) ? start(v, column, p_scalars, t) : w_offset + start(w, column - 16 * v_tiles, q_scalars, t);
      }
#pragma unroll
    for (int j = 0; j < blocks; ++j) right[j] = w_offset + start(w, (first_right + j) * 8 + g, q_scalars, t);
  }

  static __device__ __forceinline__ Fragment load(const unsigned char* from, int pitch) {
    return {scalar_at(from), scalar_at(from + pitch), scalar_at(from + 2 * pitch), scalar_at(from + 3 * pitch)};
  }
  /// Adds the products of the rows of a slot.
  __device__ __forceinline__ void add(const unsigned char* slot) {
    constexpr int v_pitch = V::by_columns ? V::element_size : V::row_bytes;
    constexpr int w_pitch = W::by_columns ? W::element_size : W::row_bytes;
#pragma unroll 1
    for (int step = 0; step < policy.tiles; ++step) {
      Fragment r[blocks];
#pragma unroll
      for (int j = 0; j < blocks; ++j) r[j] = load(slot + right[j] + step * W::step_bytes, w_pitch);
#pragma unroll
      for (int i = 0; i < tiles; ++i) {
        const int pitch = is_v(i) ? v_pitch : w_pitch, at = step * (is_v(i) ? V::step_bytes : W::step_bytes);
        const Fragment lower = load(slot + left[i][0] + at, pitch), upper = load(slot + left[i][1] + at, pitch);
#pragma unroll
        for (int j = 0; j < blocks; ++j) multiply_add(sum[i][j], lower, upper, r[j]);
      }
    }
  }
  /// The sums as left column x right column.
  __device__ __forceinline__ void put(double* to, int g, int t) const {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int j = 0; j < blocks; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = (first_left + i) * 16 + g + e / 2 * 8, column = (first_right + j) * 8 + 2 * t + e % 2;
          if (row < product_rows && column < 8 * policy.right_blocks()) to[row * product_pitch + column] = sum[i][j][e];
        }
  }
};

__device__ __forceinline__ Real with_imaginary(double re, double, Real) { return static_cast<Real>(re); }
__device__ __forceinline__ Complex<Real> with_imaginary(double re, double im, Complex<Real>) {
  return {static_cast<Real>(re), static_cast<Real>(im)};
}

constexpr int inner_rows = policy.inner ? policy.p : 0;
constexpr int results = (inner_rows + (policy.gram ? policy.q : 0)) * policy.q;

/// This block's sums of S_next and G, added over its groups, the imaginary parts `results` later.
__device__ __forceinline__ void add_groups(double* to, const double* products, int thread) {
  const auto product = [&](int l, int r) {
    double sum = 0;
#pragma unroll
    for (int group = 0; group < policy.groups; ++group) sum += products[(group * product_rows + l) * product_pitch + r];
    return sum;
  };
  for (int e = thread; e < results; e += policy.threads()) {
    const int i = e / policy.q, r = e % policy.q * parts;
    const int l = i < inner_rows ? i * parts : 16 * v_tiles + (i - inner_rows) * parts;
    if constexpr (is_complex) {
      to[e] = product(l, r) + product(l + 1, r + 1);
      to[results + e] = product(l, r + 1) - product(l + 1, r);
    } else {
      to[e] = product(l, r);
    }
  }
}

/// S_next and G from their sums over all rows.
__device__ __forceinline__ void store_products(const ts::cuda::ProjectArguments& a, const double* total, int thread) {
  const ts::cuda::ProjectMatrix s_next = a.s_next, g = a.g;
  Result* const mirror = static_cast<Result*>(a.mirror);
  const auto value = [&](int e) { return with_imaginary(total[e], is_complex ? total[results + e] : 0, Result{}); };
  for (int e = thread; e < results; e += policy.threads()) {
    const int i = e / policy.q, j = e % policy.q, row = i - inner_rows;
    if (i < inner_rows) {
      *at(s_next, i, j) = value(e);
      if (mirror) mirror[j * s_next.row_stride + i * s_next.column_stride] = conj(value(e));
    } else if (row <= j) {  // the other triangle mirrors this one
      *at(g, row, j) = value(e);
      if (row < j) *at(g, j, row) = conj(value(e));
    }
  }
}

/// Adds the products over groups and blocks, in their order; the last block stores them.
__device__ __forceinline__ void finish(const ts::cuda::ProjectArguments& a, const double* products, int thread) {
  constexpr int count = results * parts;
  const PartOfGrid part(a.sums);
  const int blocks = part.blocks, block = part.block, groups = (blocks + a.group_size - 1) / a.group_size;
  double* const partials = a.partials + static_cast<int64>(part.number) * (blocks + groups) * count;
  unsigned* const tickets = a.tickets + part.number * (1 + groups);
  add_groups(partials + static_cast<int64>(block) * count, products, thread);
  const OrderedSum order{partials, partials + static_cast<int64>(blocks) * count, tickets, blocks, block, a.group_size};
  if (!order.last(count, thread, policy.threads())) return;
  const double* total = order.total();
  if constexpr (in_parts)
    for (int e = thread; e < count; e += policy.threads()) a.sums.sums[part.number * a.sums.size + e] = total[e];
  else
    store_products(a, total, thread);
}
