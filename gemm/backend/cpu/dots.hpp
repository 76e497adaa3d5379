// Few columns: inner products of long rows, with the long dimension in the lanes.
#pragma once

#include "tallskinny/gemm/backend/cpu/tile.hpp"

namespace ts::cpu::TS_ISA {

template <class R>
TS_INLINE R sum_of(typename Vec<R>::Reg v) {
  R lane[Vec<R>::lanes];
  Vec<R>::store(lane, v);
  for (int width = Vec<R>::lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

/// M rows of x with N rows of st.
template <class R, int M, int N>
void dot_tile(const R* x, index_t ld_x, index_t depth, const R* st, index_t ld_st, R* out, index_t ld_out,
              bool add) {
  using V = Vec<R>;
  typename V::Reg c[M][N];
  TS_UNROLL
  for (int i = 0; i < M; ++i) {
    TS_UNROLL
    for (int j = 0; j < N; ++j) c[i][j] = V::zero();
  }
  const auto step = [&](index_t k, const auto& load) {
    typename V::Reg s[N];
    TS_UNROLL
    for (int j = 0; j < N; ++j) s[j] = load(st + j * ld_st + k);
    TS_UNROLL
    for (int i = 0; i < M; ++i) {
      const R* p = x + i * ld_x + k;
      __builtin_prefetch(p + 2048 / sizeof(R));
      const typename V::Reg row = load(p);
      TS_UNROLL
      for (int j = 0; j < N; ++j) c[i][j] = V::fma(row, s[j], c[i][j]);
    }
  };
  index_t k = 0;
  for (; k + V::lanes <= depth; k += V::lanes) step(k, [](const R* p) { return V::load(p); });
  if (k < depth) {
    const auto rest = V::first(depth - k);
    step(k, [rest](const R* p) { return V::load_first(p, rest); });
  }
  TS_UNROLL
  for (int i = 0; i < M; ++i) {
    TS_UNROLL
    for (int j = 0; j < N; ++j) {
      R& y = out[i * ld_out + j];
      y = sum_of<R>(c[i][j]) + (add ? y : R{});
    }
  }
}

template <class R>
void dots(const R* x, index_t ld_x, index_t rows, index_t depth, const R* st, index_t ld_st, index_t n,
          R* out, index_t ld_out, bool add) {
  constexpr index_t most = 4;  // rows of a tile
  for (index_t i = 0; i < rows; i += most)
    for (index_t j = 0; j < n; j += 2) {
      const R *x_i = x + i * ld_x, *st_j = st + j * ld_st;
      R* out_ij = out + i * ld_out + j;
      const bool pair = j + 1 < n;
      switch (least(most, rows - i)) {
        case 4:
          (pair ? dot_tile<R, 4, 2> : dot_tile<R, 4, 1>)(x_i, ld_x, depth, st_j, ld_st, out_ij, ld_out, add);
          break;
        case 3:
          (pair ? dot_tile<R, 3, 2> : dot_tile<R, 3, 1>)(x_i, ld_x, depth, st_j, ld_st, out_ij, ld_out, add);
          break;
        case 2:
          (pair ? dot_tile<R, 2, 2> : dot_tile<R, 2, 1>)(x_i, ld_x, depth, st_j, ld_st, out_ij, ld_out, add);
          break;
        default:
          (pair ? dot_tile<R, 1, 2> : dot_tile<R, 1, 1>)(x_i, ld_x, depth, st_j, ld_st, out_ij, ld_out, add);
      }
    }
}

}  // namespace ts::cpu::TS_ISA
