// Fragments of the columns of a tall operand in shared memory, K being its rows.
#pragma once

#include "tallskinny/gemm/device/fragment.cuh"

/// Scalar, where a template chooses.
template <class F>
struct ScalarFor {
  using Type = Scalar;
};

/// Row-major operand: V neighbouring columns of the rows from, from + pitch, + 2 pitch, + 3 pitch (bytes).
template <int V, int Pitch, class F>
__device__ __forceinline__ void load_columns_of(const unsigned char* from, F (&x)[V]) {
  using S = typename ScalarFor<F>::Type;
  constexpr int size = sizeof(S);
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const Words<V* size> row = load_words<V * size>(from + u * Pitch);
#pragma unroll
    for (int e = 0; e < V; ++e) set(x[e], u, scalar_of(row.w + e * (size / 4), S()));
  }
}
template <int V, int Pitch>
__device__ __forceinline__ void load_columns_of(const unsigned char* from, HalfFragment (&x)[V]) {
  if constexpr (V == 1) {
    uint32 row[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) row[u] = *reinterpret_cast<const unsigned short*>(from + u * Pitch);
    x[0].k[0] = __byte_perm(row[0], row[1], 0x5410);
    x[0].k[1] = __byte_perm(row[2], row[3], 0x5410);
  } else {
    constexpr int size = 2;
    Words<V * size> row[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) row[u] = load_words<V * size>(from + u * Pitch);
#pragma unroll
    for (int e = 0; e < V; ++e) {
      const int halves = e % 2 ? 0x7632 : 0x5410;
      x[e].k[0] = __byte_perm(row[0].w[e / 2], row[1].w[e / 2], halves);
      x[e].k[1] = __byte_perm(row[2].w[e / 2], row[3].w[e / 2], halves);
    }
  }
}

/// Column-major operand: four neighbouring rows of one column of elements, its parts as columns of their own.
template <class F>
__device__ __forceinline__ void load_rows_of(const unsigned char* from, F (&x)[parts]) {
  using S = typename ScalarFor<F>::Type;
  constexpr int words = sizeof(S) / 4;
  uint32 rows[4 * parts * words];
#pragma unroll
  for (int i = 0; i < parts * words; ++i) {
    const Words<16> piece = load_words<16>(from + 16 * i);
#pragma unroll
    for (int j = 0; j < 4; ++j) rows[4 * i + j] = piece.w[j];
  }
#pragma unroll
  for (int u = 0; u < 4; ++u)
#pragma unroll
    for (int e = 0; e < parts; ++e) set(x[e], u, scalar_of(rows + (u * parts + e) * words, S()));
}
__device__ __forceinline__ void load_rows_of(const unsigned char* from, HalfFragment (&x)[parts]) {
  const Words<8> rows = load_words<8>(from);
  x[0].k[0] = rows.w[0], x[0].k[1] = rows.w[1];
}
