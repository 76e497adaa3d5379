// Inner products of long rows, with the long dimension in the lanes: no number is spread, no lane idles
// however few the columns are, and every row is read as a stream.
#pragma once

#include <utility>

#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::inline v0::cpu::TS_ISA {

template <std::size_t... L, class V>
TS_INLINE auto sum_halves(V v, std::index_sequence<L...>) {
  if constexpr (sizeof...(L) == 0)
    return v[0];
  else if constexpr (sizeof...(L) == 1)
    return v[0] + v[1];
  else
    return sum_halves(__builtin_shufflevector(v, v, L...) + __builtin_shufflevector(v, v, (L + sizeof...(L))...),
                      std::make_index_sequence<sizeof...(L) / 2>{});
}
template <class R>
TS_INLINE R sum_of(typename Vec<R>::Reg v) {
  return sum_halves(v, std::make_index_sequence<Vec<R>::lanes / 2>{});
}

/// out(i, j) = x(i, :) st(j, :), or +=, for M rows of x with N rows of st. With Ask, the M rows from `next`
/// on are asked for meanwhile.
template <class R, bool Ask, int M, int N>
void dot_tile(const typename RealKernels<R>::Dots& d) {
  using V = Vec<R>;
  const R *const x = d.x.data, *const st = d.st.data, *const next = d.next;
  const index_t ld_x = d.x.ld, ld_st = d.st.ld, depth = d.depth;
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
      if (Ask) ask_for(reinterpret_cast<const char*>(next + i * ld_x + k));
      typename V::Reg row = load(x + i * ld_x + k);
      keep(row);
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
      R& y = d.out[i * d.ld_out + j];
      y = sum_of<R>(c[i][j]) + (d.add ? y : R{});
    }
  }
}

/// Every tile size; only whole ones ask for memory.
template <class R>
struct DotTiles {
  using Run = void (*)(const typename RealKernels<R>::Dots&);
  Run run[tile_rows][tile_vectors], asking[tile_vectors];

  template <int M = 1, int N = 1>
  constexpr void fill() {
    run[M - 1][N - 1] = dot_tile<R, false, M, N>;
    if constexpr (M == tile_rows) asking[N - 1] = dot_tile<R, true, M, N>;
    if constexpr (N < tile_vectors)
      fill<M, N + 1>();
    else if constexpr (M < tile_rows)
      fill<M + 1, 1>();
  }
  constexpr DotTiles() : run{}, asking{} { fill(); }
};

template <class R>
constexpr DotTiles<R> dot_tiles;

template <class R>
void dots(const typename RealKernels<R>::Dots& all) {
  const Split columns(all.n, tile_vectors);
  typename RealKernels<R>::Dots tile = all;
  for (index_t i = 0; i < all.rows; i += tile_rows) {
    const index_t height = least(tile_rows, all.rows - i);
    tile.x.data = all.x.data + i * all.x.ld;
    tile.next = i + tile_rows < all.rows ? tile.x.data + tile_rows * all.x.ld : all.next;
    for (index_t q = 0; q < columns.count; ++q) {
      const index_t j = columns.begin(q), width = columns.begin(q + 1) - j;
      const bool ask = q == 0 && height == tile_rows && tile.next != nullptr;
      tile.st.data = all.st.data + j * all.st.ld;
      tile.out = all.out + i * all.ld_out + j;
      (ask ? dot_tiles<R>.asking[width - 1] : dot_tiles<R>.run[height - 1][width - 1])(tile);
    }
  }
}

}  // namespace ts::inline v0::cpu::TS_ISA
