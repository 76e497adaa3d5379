// Fragments of tensor instructions, and the instructions, by scalar type. A fragment is one column's share of
// the long dimension K that a lane holds: lane (g, t) = (lane / 4, lane % 4) holds column g, the four rows of
// group t. Which rows of memory these are is free, as long as both factors agree.
//
//   float64            m16n8k16 in float64 (four m8n8k4 before sm_90)
//   float32            widened, then the same: products are exact and sums have float64's accuracy
//   float32, TS_SPLIT  3xTF32, m16n8k8: x = high + low, both of 11 bits, the product of the low parts left out
//   float16, bfloat16  m16n8k16 with sums in float32
//
// Tensor instructions truncate when they add to a float32, which would bias long sums: each product of 16 rows
// starts from zero and is added by ordinary, rounded additions.
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

#ifndef TS_SPLIT
#define TS_SPLIT 0
#endif
/// Whether sums are float64 all the way.
#define TS_WIDE_SUMS (TS_TYPE <= 3 && !TS_SPLIT)

#if TS_WIDE_SUMS
using Accumulator = double;
struct Fragment {
  double k[4];
};
#elif TS_SPLIT
using Accumulator = float;
struct Fragment {
  uint32 high[4], low[4];
};
#else
using Accumulator = float;
/// Two rows in a register, the first in the lower half.
struct Fragment {
  uint32 k[2];
};
#endif

using AccumulatorTile = Accumulator[4];

#if TS_SPLIT
/// p += [lower; upper]^T right, of eight rows
__device__ __forceinline__ void multiply_tf32(float (&p)[4], const uint32* lower, const uint32* upper,
                                              const uint32* right) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])
      : "r"(lower[0]), "r"(upper[0]), "r"(lower[1]), "r"(upper[1]), "r"(right[0]), "r"(right[1]));
}
#endif

/// c += [lower; upper]^T right
__device__ __forceinline__ void multiply_add(AccumulatorTile& c, const Fragment& lower, const Fragment& upper,
                                             const Fragment& right) {
#if TS_WIDE_SUMS && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(lower.k[0]), "d"(upper.k[0]), "d"(lower.k[1]), "d"(upper.k[1]), "d"(lower.k[2]), "d"(upper.k[2]),
        "d"(lower.k[3]), "d"(upper.k[3]), "d"(right.k[0]), "d"(right.k[1]), "d"(right.k[2]), "d"(right.k[3]));
#elif TS_WIDE_SUMS
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(lower.k[u]), "d"(right.k[u]));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[2]), "+d"(c[3])
        : "d"(upper.k[u]), "d"(right.k[u]));
  }
#else
  float p[4] = {0, 0, 0, 0};
#if TS_SPLIT
#pragma unroll
  for (int u = 0; u < 4; u += 2) {
    multiply_tf32(p, lower.low + u, upper.low + u, right.high + u);
    multiply_tf32(p, lower.high + u, upper.high + u, right.low + u);
  }
#pragma unroll
  for (int u = 0; u < 4; u += 2) multiply_tf32(p, lower.high + u, upper.high + u, right.high + u);
#elif TS_TYPE == 4
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])
      : "r"(lower.k[0]), "r"(upper.k[0]), "r"(lower.k[1]), "r"(upper.k[1]), "r"(right.k[0]), "r"(right.k[1]));
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])
      : "r"(lower.k[0]), "r"(upper.k[0]), "r"(lower.k[1]), "r"(upper.k[1]), "r"(right.k[0]), "r"(right.k[1]));
#endif
#pragma unroll
  for (int i = 0; i < 4; ++i) c[i] += p[i];
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

/// Row u of a fragment becomes the scalar whose bits are w.
#if TS_SPLIT
__device__ __forceinline__ void set(Fragment& x, int u, const uint32* w, float) {
  x.high[u] = (w[0] + 0x1000u) & 0xffffe000u;  // rounded to 11 bits
  x.low[u] = __float_as_uint(__uint_as_float(w[0]) - __uint_as_float(x.high[u]));
}
#elif TS_WIDE_SUMS
__device__ __forceinline__ void set(Fragment& x, int u, const uint32* w, double) {
  x.k[u] = __hiloint2double(static_cast<int>(w[1]), static_cast<int>(w[0]));
}
__device__ __forceinline__ void set(Fragment& x, int u, const uint32* w, float) { x.k[u] = __uint_as_float(w[0]); }
#endif

/// Row-major operand: V neighbouring columns of the rows from, from + pitch, + 2 pitch, + 3 pitch (bytes).
template <int V, int Pitch>
__device__ __forceinline__ void load_columns_of(const unsigned char* from, Fragment (&x)[V]) {
  constexpr int size = sizeof(Scalar);
#if TS_TYPE <= 3
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const Words<V * size> row = load_words<V * size>(from + u * Pitch);
#pragma unroll
    for (int e = 0; e < V; ++e) set(x[e], u, row.w + e * (size / 4), Scalar());
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
__device__ __forceinline__ void load_rows_of(const unsigned char* from, Fragment (&x)[parts]) {
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
    for (int e = 0; e < parts; ++e) set(x[e], u, rows + (u * parts + e) * words, Scalar());
#else
  const Words<8> rows = load_words<8>(from);
  x[0].k[0] = rows.w[0], x[0].k[1] = rows.w[1];
#endif
}
