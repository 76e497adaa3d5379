// The update of project.cuh: W = W - V S in a slot, and the way of W to memory. Tiles of 16 rows meet S, which lies
// in shared memory as fragments. Complex: K runs over pairs of real and imaginary parts.
#pragma once

#include "tallskinny/gemm/project/kernels/project_operands.cuh"

constexpr int k_blocks = policy.k_blocks(), column_blocks = policy.column_blocks(), at_once = policy.at_once();

/// Which row of a chunk stands at `index` of a tile of the update. With four sub-blocks: neighbouring lanes read
/// rows of different ones, which never meet in a bank.
__device__ __forceinline__ int row_of(int tile, int index) {
  if constexpr (policy.subs() == 1) return 16 * tile + index;
  return (2 * (index & 1) + (index >> 1 & 1)) * (policy.chunk_rows() / 4) + 4 * tile + (index >> 2);
}

/// The scalar of K, of 16, that stands at place u of lane group t: groups take turns vector by vector.
__device__ __forceinline__ constexpr int k_of(int t, int u) {
  constexpr int v = policy.vector_v < parts ? parts : policy.vector_v;
  return u / v * (4 * v) + t * v + u % v;
}

__device__ __forceinline__ void set_negative(double* to, double x) { to[0] = -x; }
template <class R>
__device__ __forceinline__ void set_negative(double* to, Complex<R> x) {
  to[0] = -x.re, to[1] = -x.im;
}

/// -S as fragments: two places of a lane side by side, then those of the next lane.
__device__ __forceinline__ void prepare_factor(double* to, const ts::cuda::ProjectMatrix& s, int thread) {
  for (int e = thread; e < k_blocks * column_blocks * 64; e += policy.threads()) {
    const int lane = e % 32, half = e / 32 % 2, column = e / 64 % column_blocks * 8 + lane / 4;
#pragma unroll
    for (int u = 0; u < 2; u += parts) {
      const int k = (e / 64 / column_blocks * 16 + k_of(lane % 4, 2 * half + u)) / parts;
      set_negative(to + 2 * e + u, k < policy.p && column < policy.q ? *at(s, k, column) : Result{});
    }
  }
}
__device__ __forceinline__ Fragment factor_block(const double* factor, int block, int lane) {
  const double2* const from = reinterpret_cast<const double2*>(factor) + block * 64 + lane;
  return {from[0].x, from[0].y, from[32].x, from[32].y};
}

/// The factor of the imaginary columns, [Im S, Re S], and, in place, of the real ones, [Re S, -Im S].
__device__ __forceinline__ Fragment imaginary_of(Fragment& f) {
  const Fragment im = {f.k[1], f.k[0], f.k[3], f.k[2]};
  f.k[1] = -f.k[1], f.k[3] = -f.k[3];
  return im;
}

/// Places of K block kb of a row of V; what is beyond the width counts as zero.
__device__ __forceinline__ Fragment load_row(const unsigned char* row, int kb, int t) {
  constexpr int v = V::by_columns ? 1 : policy.vector_v;
  Fragment f;
#pragma unroll
  for (int u = 0; u < 4; u += v) {
    const int k = kb * 16 + k_of(t, u);
    const bool valid = p_scalars % 16 == 0 || k < p_scalars;  // vectors do not straddle the end
    const Words<v* V::scalar_size> words = load_words<v * V::scalar_size>(row + (valid ? scalar_offset<V>(k) : 0));
#pragma unroll
    for (int e = 0; e < v; ++e) set(f, u + e, valid ? scalar_of(words.w + e * (V::scalar_size / 4), Scalar()) : 0);
  }
  return f;
}

using UpdateSums = AccumulatorTile[at_once][parts];

/// f(sum, scalar of W in the slot, column is inside) for what a lane holds of 16 rows and `at_once` blocks of columns.
template <class F>
__device__ __forceinline__ void for_each_scalar(UpdateSums& sum, const W& w, unsigned char* slot, const int (&row)[2],
                                                int first_block, int t, F f) {
#pragma unroll
  for (int b = 0; b < at_once; ++b)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int column = (first_block + b) * 8 + 2 * t + e % 2;
      unsigned char* const at = slot + policy.w_offset() + w.row_offset(row[e / 2]) + scalar_offset<W>(column * parts);
#pragma unroll
      for (int part = 0; part < parts; ++part)
        f(sum[b][part][e], reinterpret_cast<Scalar*>(at) + part, column < policy.q, row[e / 2]);
    }
}

/// W = W - V S in the slot, for 16 rows and `at_once` blocks of columns; rows beyond the end become zero.
__device__ __forceinline__ void update(const V& v, const W& w, unsigned char* slot, const double* factor, int tile,
                                       int first_block, int valid_rows, int lane) {
  const int g = lane / 4, t = lane % 4;
  const int row[2] = {row_of(tile, g), row_of(tile, g + 8)};
  UpdateSums sum;
  for_each_scalar(sum, w, slot, row, first_block, t,
                  [](double& x, const Scalar* at, bool inside, int) { x = inside ? static_cast<double>(*at) : 0; });
  const unsigned char* const lower_row = slot + v.row_offset(row[0]);
  const unsigned char* const upper_row = slot + v.row_offset(row[1]);
#pragma unroll 2
  for (int kb = 0; kb < k_blocks; ++kb) {
    const Fragment lower = load_row(lower_row, kb, t), upper = load_row(upper_row, kb, t);
#pragma unroll
    for (int b = 0; b < at_once; ++b) {
      const int block = first_block + b < column_blocks ? first_block + b : first_block;  // others are not stored
      Fragment right = factor_block(factor, kb * column_blocks + block, lane);
      if constexpr (is_complex) {
        const Fragment imaginary = imaginary_of(right);
        multiply_add(sum[b][parts - 1], lower, upper, imaginary);
      }
      multiply_add(sum[b][0], lower, upper, right);
    }
  }
  for_each_scalar(sum, w, slot, row, first_block, t, [&](double x, Scalar* at, bool inside, int in_row) {
    if (inside) *at = in_row < valid_rows ? static_cast<Scalar>(x) : Scalar(0);
  });
}

/// The update of a whole slot by the warps of a group.
__device__ __forceinline__ void update_slot(const Group& group, unsigned char* slot, const double* factor,
                                            int valid_rows) {
  constexpr int runs = (column_blocks + at_once - 1) / at_once;
#pragma unroll 1
  for (int unit = group.warp; unit < policy.tiles * runs; unit += policy.group_warps())
    update(group.v, group.w, slot, factor, unit / runs, unit % runs * at_once, valid_rows, group.thread % 32);
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the copy engine will read W
#endif
}

/// Whether the copy engine stores whole chunks.
#if __CUDA_ARCH__ >= 900
constexpr bool stores_in_bulk = policy.bulk_w;
#else
constexpr bool stores_in_bulk = false;
#endif

/// By the first warp of a group: starts to store the chunk of W from row `first` on, if it is a whole one, and waits
/// until the slot that is filled next has been read.
__device__ __forceinline__ void store_in_bulk([[maybe_unused]] Element* w_rows,
                                              [[maybe_unused]] const unsigned char* slot, [[maybe_unused]] int64 first,
                                              [[maybe_unused]] bool whole, [[maybe_unused]] int lane) {
#if __CUDA_ARCH__ >= 900
  constexpr int sub_rows = policy.w().sub_rows, sub_bytes = policy.w().sub_bytes();
  if (lane == 0) {
    if (whole)
#pragma unroll
      for (int sub = 0; sub < policy.subs(); ++sub)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                         w_rows + (first + sub * sub_rows) * policy.q),
                     "r"(shared_address(slot + policy.w_offset() + sub * W::sub_pitch)), "n"(sub_bytes)
                     : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  }
  __syncwarp();
#endif
}
/// Waits until all has been stored.
__device__ __forceinline__ void wait_for_stores() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

/// By all threads of a group: stores the rows of a chunk one by one.
__device__ __forceinline__ void store_rows(const Group& group, Element* w_rows, const unsigned char* slot, int64 first,
                                           int valid_rows) {
  constexpr int chunk_rows = policy.chunk_rows(), group_threads = 32 * policy.group_warps();
  for (int e = group.thread % group_threads; e < chunk_rows * policy.q; e += group_threads) {
    const int row = W::by_columns ? e % chunk_rows : e / policy.q,
              column = W::by_columns ? e / chunk_rows : e % policy.q;
    if (row < valid_rows)
      *(w_rows + (first + row) * group.w_argument.row_stride + column * group.w_argument.column_stride) =
          *reinterpret_cast<const Element*>(slot + policy.w_offset() + group.w.row_offset(row) +
                                            scalar_offset<W>(column * parts));
  }
}
