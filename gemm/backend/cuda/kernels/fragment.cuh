// Fragments of tensor instructions, and the instructions, by scalar type. A fragment is one column's share of
// the long dimension K that a lane holds: lane (g, t) = (lane / 4, lane % 4) holds column g, the four rows of
// group t. Which rows of memory these are is free, as long as both factors agree.
//
//   float64            m16n8k16 in float64 (four m8n8k4 before sm_90)
//   float32            widened, then the same: products are exact and sums have float64's accuracy
//   float16, bfloat16  m16n8k16 with sums in float32
//
// An accumulator tile is 16 x 8: lane (g, t) holds (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
#pragma once

#include "element.cuh"

#if TS_TYPE <= 1
using Scalar = double;
#elif TS_TYPE <= 3
using Scalar = float;
#else
using Scalar = Element;
#endif

#if TS_TYPE <= 3
using Accumulator = double;
struct Fragment {
  double k[4];
};
#else
using Accumulator = float;
/// Two rows in a register, the first in the lower half.
struct Fragment {
  uint32 k[2];
};
#endif

using AccumulatorTile = Accumulator[4];

/// c += [lower; upper]^T right
__device__ __forceinline__ void multiply_add(AccumulatorTile& c, const Fragment& lower, const Fragment& upper,
                                             const Fragment& right) {
#if TS_TYPE <= 3 && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(lower.k[0]), "d"(upper.k[0]), "d"(lower.k[1]), "d"(upper.k[1]), "d"(lower.k[2]), "d"(upper.k[2]),
        "d"(lower.k[3]), "d"(upper.k[3]), "d"(right.k[0]), "d"(right.k[1]), "d"(right.k[2]), "d"(right.k[3]));
#elif TS_TYPE <= 3
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(lower.k[u]), "d"(right.k[u]));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[2]), "+d"(c[3])
        : "d"(upper.k[u]), "d"(right.k[u]));
  }
#elif TS_TYPE == 4
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(lower.k[0]), "r"(upper.k[0]), "r"(lower.k[1]), "r"(upper.k[1]), "r"(right.k[0]), "r"(right.k[1]));
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(lower.k[0]), "r"(upper.k[0]), "r"(lower.k[1]), "r"(upper.k[1]), "r"(right.k[0]), "r"(right.k[1]));
#endif
}

/// `Bytes` bytes of shared memory as 32-bit words (Bytes >= 4), aligned to Bytes.
template <int Bytes>
struct Words {
  uint32 w[Bytes / 4];
};
template <int Bytes>
__device__ __forceinline__ Words<Bytes> load_words(const unsigned char* from) {
  Words<Bytes> r;
  if constexpr (Bytes == 16) {
    const uint4 v = *reinterpret_cast<const uint4*>(from);
    r.w[0] = v.x, r.w[1] = v.y, r.w[2] = v.z, r.w[3] = v.w;
  } else if constexpr (Bytes == 8) {
    const uint2 v = *reinterpret_cast<const uint2*>(from);
    r.w[0] = v.x, r.w[1] = v.y;
  } else {
    r.w[0] = *reinterpret_cast<const uint32*>(from);
  }
  return r;
}

__device__ __forceinline__ double to_accumulator(const uint32* w, double) {
  return __hiloint2double(static_cast<int>(w[1]), static_cast<int>(w[0]));
}
__device__ __forceinline__ double to_accumulator(const uint32* w, float) { return __uint_as_float(w[0]); }

/// Row-major operand: V neighbouring columns of the rows from, from + pitch, + 2 pitch, + 3 pitch (bytes).
template <int V, int Pitch>
__device__ __forceinline__ void load_columns(const unsigned char* from, Fragment (&x)[V]) {
  constexpr int size = sizeof(Scalar);
#if TS_TYPE <= 3
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const Words<V * size> row = load_words<V * size>(from + u * Pitch);
#pragma unroll
    for (int e = 0; e < V; ++e) x[e].k[u] = to_accumulator(row.w + e * (size / 4), Scalar());
  }
#else
  if constexpr (V == 1) {
    uint32 row[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) row[u] = *reinterpret_cast<const unsigned short*>(from + u * Pitch);
    x[0].k[0] = __byte_perm(row[0], row[1], 0x5410);
    x[0].k[1] = __byte_perm(row[2], row[3], 0x5410);
  } else {
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
#endif
}

/// Column-major operand: four neighbouring rows of one column of elements, its parts as columns of their own.
__device__ __forceinline__ void load_rows(const unsigned char* from, Fragment (&x)[parts]) {
#if TS_TYPE <= 3
  constexpr int size = sizeof(Scalar), words = size / 4;
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
    for (int e = 0; e < parts; ++e) x[e].k[u] = to_accumulator(rows + (u * parts + e) * words, Scalar());
#else
  const Words<8> rows = load_words<8>(from);
  x[0].k[0] = rows.w[0], x[0].k[1] = rows.w[1];
#endif
}
