// The chunk of a warp of tsmm.cuh by tensor instructions of single warps. S lies in shared memory as
// fragments in the order in which lanes read them. Complex: K runs over (re, im) pairs; the real and the
// imaginary part of Y come from one fragment of S and two of X.
#pragma once

#include "tallskinny/gemm/tsmm/kernels/factor.cuh"
#include "tallskinny/gemm/tsmm/kernels/tsmm_rows.cuh"

template <TsmmPolicy policy>
struct ByWarps {
  /// Fragments of op(S): lane (g, t) of (k block, column block) holds the column in place g, rows 4t .. 4t + 3
  /// of 16 scalars of K (complex: rows 2t, 2t + 1 of 8, each as real and imaginary part).
  static __device__ __forceinline__ void prepare_factor(unsigned char* to, const Factor& s, int thread) {
    for (int e = thread; e < k_blocks * column_blocks * 32; e += policy.threads()) {
      const int lane = e % 32, column = column_of(e / 32 % column_blocks, lane / 4);
      Fragment f;
#pragma unroll
      for (int u = 0; u < 4; u += parts) {
        const int k = scalar_of_lane(e / 32 / column_blocks, lane % 4, u) / parts;
        set_factor(f, u, k < policy.p && column < policy.q ? s.at(k, column) : Result{});
      }
      store_factor(to, e / 32, lane, f);
    }
  }

  /// sums += the products of 16 scalars of K, some blocks of columns at once: one in float64, up to four of
  /// 3xTF32, whose instructions take turns.
  template <bool Whole>
  static __device__ __forceinline__ void multiply_block(Sums& sum, const X& x, const unsigned char* slot,
                                                        const Rows& row, const unsigned char* factor, int kb,
                                                        int column_warp, int lane) {
    Fragment lower[policy.tiles], upper[policy.tiles], imaginary_lower[policy.tiles], imaginary_upper[policy.tiles];
#pragma unroll
    for (int i = 0; i < policy.tiles; ++i) {
      lower[i] = load_row<Whole>(x, slot + row[i][0], kb, lane % 4);
      upper[i] = load_row<Whole>(x, slot + row[i][1], kb, lane % 4);
      if (is_complex) imaginary_lower[i] = imaginary_of(lower[i]), imaginary_upper[i] = imaginary_of(upper[i]);
    }
    constexpr int n = blocks_of_warp, most = is_complex ? 2 : 4;
    constexpr int at_once = !is_split ? 1 : n % most == 0 ? most : n % 3 == 0 && most > 2 ? 3 : n % 2 == 0 ? 2 : 1;
    using Blocks = AccumulatorTile[at_once];
#pragma unroll
    for (int b = 0; b < n; b += at_once) {
      Fragment right[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        int block = column_warp * n + b + j;
        if (column_blocks % policy.column_warps != 0 && block >= column_blocks) block = 0;  // its sums are not stored
        load_factor(factor, kb * column_blocks + block, lane, right[j]);
      }
#pragma unroll
      for (int i = 0; i < policy.tiles; ++i) {
        multiply_add_row(reinterpret_cast<Blocks&>(sum[i][0][b]), lower[i], upper[i], right, 0);
        if constexpr (is_complex)
          multiply_add_row(reinterpret_cast<Blocks&>(sum[i][parts - 1][b]), imaginary_lower[i], imaginary_upper[i],
                           right, 0);
      }
    }
  }

  /// A warp's columns of its team's rows.
  static __device__ __forceinline__ void compute(const X& x, unsigned char* slot, const unsigned char* factor,
                                                 const Factor& s, const Place& place, const Scalars& scalars) {
    Sums sum = {};
    Rows row;
    find_rows(x, place, row);
#pragma unroll 1
    for (int kb = 0; kb < whole_blocks; ++kb)
      multiply_block<true>(sum, x, slot, row, factor, kb, place.column_warp, place.lane);
    if (whole_blocks < k_blocks)
      multiply_block<false>(sum, x, slot, row, factor, whole_blocks, place.column_warp, place.lane);
    put_all(sum, x, slot, row, s, place, scalars);
  }
};
