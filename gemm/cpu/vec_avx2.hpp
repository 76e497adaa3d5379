// AVX2 vectors (with FMA and F16C) for the kernels. Included only by the translation unit compiled for them.
#pragma once

#include <immintrin.h>

#include "tallskinny/gemm/core/types.hpp"

#define TS_ISA avx2
#define TS_INLINE static inline __attribute__((always_inline))

namespace ts::inline v0::cpu::avx2 {

inline constexpr int tile_rows = 4, tile_vectors = 3;  // 12 of 16 registers accumulate
inline constexpr bool has_permute = true;

template <class R>
struct Vec;

template <>
struct Vec<double> {
  using Reg = __m256d;
  using Mask = __m256i;
  using Index = __m256i;
  static constexpr int lanes = 4;

  TS_INLINE Mask first(index_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  TS_INLINE Reg zero() { return _mm256_setzero_pd(); }
  TS_INLINE Reg load(const double* p) { return _mm256_loadu_pd(p); }
  TS_INLINE Reg load_first(const double* p, Mask m) { return _mm256_maskload_pd(p, m); }
  TS_INLINE void store(double* p, Reg v) { _mm256_storeu_pd(p, v); }
  TS_INLINE void store_first(double* p, Mask m, Reg v) { _mm256_maskstore_pd(p, m, v); }
  TS_INLINE void stream(double* p, Reg v) { _mm256_stream_pd(p, v); }
  TS_INLINE Reg broadcast(double x) { return _mm256_set1_pd(x); }
  TS_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_pd(a, b, c); }
  TS_INLINE Reg add(Reg a, Reg b) { return _mm256_add_pd(a, b); }
  // AVX2 moves 64-bit lanes by a variable index only as pairs of 32-bit ones.
  TS_INLINE Index index(const std::int32_t* lane) {
    return _mm256_setr_epi32(2 * lane[0], 2 * lane[0] + 1, 2 * lane[1], 2 * lane[1] + 1, 2 * lane[2], 2 * lane[2] + 1,
                             2 * lane[3], 2 * lane[3] + 1);
  }
  TS_INLINE Reg permute(Reg v, Index i) { return _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), i)); }
  TS_INLINE void add_to(double* sums, Reg v) { store(sums, add(load(sums), v)); }
};

template <>
struct Vec<float> {
  using Reg = __m256;
  using Mask = __m256i;
  using Index = __m256i;
  static constexpr int lanes = 8;

  TS_INLINE Mask first(index_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  TS_INLINE Reg zero() { return _mm256_setzero_ps(); }
  TS_INLINE Reg load(const float* p) { return _mm256_loadu_ps(p); }
  TS_INLINE Reg load(const bfloat16* p) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  TS_INLINE Reg load(const float16* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  TS_INLINE Reg load_first(const float* p, Mask m) { return _mm256_maskload_ps(p, m); }
  TS_INLINE void store(float* p, Reg v) { _mm256_storeu_ps(p, v); }
  TS_INLINE void store_first(float* p, Mask m, Reg v) { _mm256_maskstore_ps(p, m, v); }
  TS_INLINE void stream(float* p, Reg v) { _mm256_stream_ps(p, v); }
  TS_INLINE Reg broadcast(float x) { return _mm256_set1_ps(x); }
  TS_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  TS_INLINE Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  TS_INLINE Index index(const std::int32_t* lane) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lane)); }
  TS_INLINE Reg permute(Reg v, Index i) { return _mm256_permutevar8x32_ps(v, i); }
  TS_INLINE void add_to(double* sums, Reg v) {
    Vec<double>::add_to(sums, _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
    Vec<double>::add_to(sums + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
  }
};

/// Keeps a vector that several instructions use in a register: the compiler would read it from memory for
/// each.
template <class Reg>
TS_INLINE void keep(Reg& v) {
  asm("" : "+x"(v));
}

TS_INLINE void fence() { _mm_sfence(); }

}  // namespace ts::inline v0::cpu::avx2
