// Fragments of tensor instructions, and the instructions. A fragment is one column's share of the contracted
// dimension K that a lane holds: lane (g, t) = (lane / 4, lane % 4) holds column g, the four K of group t.
// Which places of memory these are is free, as long as both factors agree. By ts::cuda::Arithmetic:
//
//   float64  m16n8k16 (four m8n8k4 before sm_90)
//   split    3xTF32, m16n8k8
//   half     m16n8k16 with sums in float32
//
// Tensor instructions truncate when they add to a float32, which would bias long sums: each product of 16 rows
// starts from zero and is added by ordinary, rounded additions.
//
// An accumulator tile is 16 x 8: lane (g, t) holds (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
#pragma once

#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/tall_policy.hpp"

using ts::cuda::Arithmetic;
constexpr Arithmetic arithmetic = policy.arithmetic;
constexpr bool is_split = arithmetic == Arithmetic::split;

using Scalar = Choose<is_short, Element, Real>::type;

struct DoubleFragment {
  double k[4];
};
struct SplitFragment {
  uint32 high[4], low[4];
};
/// Two rows in a register, the first in the lower half.
struct HalfFragment {
  uint32 k[2];
};
using Fragment = Choose<arithmetic == Arithmetic::float64, DoubleFragment,
                        Choose<is_split, SplitFragment, HalfFragment>::type>::type;
using Accumulator = Choose<arithmetic == Arithmetic::float64, double, float>::type;
using AccumulatorTile = Accumulator[4];

/// c += [lower; upper]^T right
__device__ __forceinline__ void multiply_add(double (&c)[4], const DoubleFragment& lower, const DoubleFragment& upper,
                                             const DoubleFragment& right) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
      "%11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(lower.k[0]), "d"(upper.k[0]), "d"(lower.k[1]), "d"(upper.k[1]), "d"(lower.k[2]), "d"(upper.k[2]),
        "d"(lower.k[3]), "d"(upper.k[3]), "d"(right.k[0]), "d"(right.k[1]), "d"(right.k[2]), "d"(right.k[3]));
#else
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(lower.k[u]), "d"(right.k[u]));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[2]), "+d"(c[3])
        : "d"(upper.k[u]), "d"(right.k[u]));
  }
#endif
}

/// p += [lower; upper]^T right, of eight rows
__device__ __forceinline__ void multiply_tf32(float (&p)[4], const uint32* lower, const uint32* upper,
                                              const uint32* right) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])
      : "r"(lower[0]), "r"(upper[0]), "r"(lower[1]), "r"(upper[1]), "r"(right[0]), "r"(right[1]));
}
__device__ __forceinline__ void multiply_add(float (&c)[4], const SplitFragment& lower, const SplitFragment& upper,
                                             const SplitFragment& right) {
  float p[4] = {0, 0, 0, 0};
#pragma unroll
  for (int u = 0; u < 4; u += 2) {
    if (!is_short) multiply_tf32(p, lower.low + u, upper.low + u, right.high + u);  // 16-bit: no low part
    multiply_tf32(p, lower.high + u, upper.high + u, right.low + u);
  }
#pragma unroll
  for (int u = 0; u < 4; u += 2) multiply_tf32(p, lower.high + u, upper.high + u, right.high + u);
#pragma unroll
  for (int i = 0; i < 4; ++i) c[i] += p[i];
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const HalfFragment& lower, const HalfFragment& upper,
                                             const HalfFragment& right) {
  float p[4] = {0, 0, 0, 0};
  if constexpr (element_type == ts::DType::float16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])
        : "r"(lower.k[0]), "r"(upper.k[0]), "r"(lower.k[1]), "r"(upper.k[1]), "r"(right.k[0]), "r"(right.k[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])
        : "r"(lower.k[0]), "r"(upper.k[0]), "r"(lower.k[1]), "r"(upper.k[1]), "r"(right.k[0]), "r"(right.k[1]));
#pragma unroll
  for (int i = 0; i < 4; ++i) c[i] += p[i];
}

/// c[j] += [lower; upper]^T right[j] for j from `first` on.
template <class Sum, class Piece, int N>
__device__ __forceinline__ void multiply_add_row(Sum (&c)[N][4], const Piece& lower, const Piece& upper,
                                                 const Piece (&right)[N], int first) {
#pragma unroll
  for (int j = 0; j < N; ++j)
    if (j >= first) multiply_add(c[j], lower, upper, right[j]);
}
/// The chains of dependent instructions of the tiles alternate, so that each has the time that it takes.
template <int N>
__device__ __forceinline__ void multiply_add_row(float (&c)[N][4], const SplitFragment& lower,
                                                 const SplitFragment& upper, const SplitFragment (&right)[N],
                                                 int first) {
  float p[N][4] = {};
#pragma unroll
  for (int part = is_short ? 1 : 0; part < 3; ++part)
#pragma unroll
    for (int u = 0; u < 4; u += 2)
#pragma unroll
      for (int j = 0; j < N; ++j)
        if (j >= first)
          multiply_tf32(p[j], (part == 0 ? lower.low : lower.high) + u, (part == 0 ? upper.low : upper.high) + u,
                        (part == 1 ? right[j].low : right[j].high) + u);
#pragma unroll
  for (int j = 0; j < N; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) c[j][i] += j >= first ? p[j][i] : 0;
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

/// Place u of a fragment becomes x.
__device__ __forceinline__ void set(DoubleFragment& f, int u, double x) { f.k[u] = x; }
/// The same of a widened 16-bit number.
__device__ __forceinline__ void set_short(DoubleFragment& f, int u, float x) { f.k[u] = x; }
/// A float32 rounded to the 11 bits that the instructions see.
__device__ __forceinline__ uint32 rounded(uint32 x) { return (x + 0x1000u) & 0xffffe000u; }
/// The same of a low part. NaN stays NaN: the one that GPUs make has all bits set and would turn into a zero, as
/// the high part does.
__device__ __forceinline__ uint32 rounded_low(uint32 x) { return (x & 0x7fffffffu) > 0x7f800000u ? x : rounded(x); }
__device__ __forceinline__ void set(SplitFragment& f, int u, float x) {
  f.high[u] = rounded(__float_as_uint(x));
  f.low[u] = __float_as_uint(x - __uint_as_float(f.high[u]));
}
/// It has 11 bits or fewer: no low part.
__device__ __forceinline__ void set_short(SplitFragment& f, int u, float x) { f.high[u] = __float_as_uint(x); }

/// The scalar whose bits begin at w.
__device__ __forceinline__ double scalar_of(const uint32* w, double) {
  return __hiloint2double(static_cast<int>(w[1]), static_cast<int>(w[0]));
}
__device__ __forceinline__ float scalar_of(const uint32* w, float) { return __uint_as_float(w[0]); }

/// Place u of a fragment becomes scalar number `e` of those whose bits begin at w, or zero.
template <class S, class Piece>
__device__ __forceinline__ void set_scalar(Piece& f, int u, const uint32* w, int e, bool valid) {
  if constexpr (sizeof(S) == 2)
    set_short(f, u, valid ? widen(S{static_cast<unsigned short>(w[e / 2] >> (e % 2 * 16))}) : 0);
  else
    set(f, u, valid ? scalar_of(w + e * (static_cast<int>(sizeof(S)) / 4), S()) : 0);
}
