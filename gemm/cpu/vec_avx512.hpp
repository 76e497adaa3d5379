// AVX-512 vectors (F, BW, VL, DQ) for the kernels. Included only by the translation unit compiled for them.
#pragma once

#include <immintrin.h>

#include "tallskinny/gemm/core/types.hpp"

#define TS_ISA avx512
#define TS_INLINE static inline __attribute__((always_inline))

namespace ts::inline v0::cpu::avx512 {

inline constexpr int tile_rows = 8, tile_vectors = 3;  // 24 of 32 registers accumulate
inline constexpr bool has_permute = true;

template <class R>
struct Vec;

template <>
struct Vec<double> {
  using Reg = __m512d;
  using Mask = __mmask8;
  using Index = __m512i;
  static constexpr int lanes = 8;

  TS_INLINE Mask first(index_t count) { return static_cast<Mask>((1u << count) - 1u); }
  TS_INLINE Reg zero() { return _mm512_setzero_pd(); }
  TS_INLINE Reg load(const double* p) { return _mm512_loadu_pd(p); }
  TS_INLINE Reg load_first(const double* p, Mask m) { return _mm512_maskz_loadu_pd(m, p); }
  TS_INLINE void store(double* p, Reg v) { _mm512_storeu_pd(p, v); }
  TS_INLINE void store_first(double* p, Mask m, Reg v) { _mm512_mask_storeu_pd(p, m, v); }
  TS_INLINE void stream(double* p, Reg v) { _mm512_stream_pd(p, v); }
  TS_INLINE Reg broadcast(double x) { return _mm512_set1_pd(x); }
  TS_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_pd(a, b, c); }
  TS_INLINE Reg add(Reg a, Reg b) { return _mm512_add_pd(a, b); }
  TS_INLINE Index index(const std::int32_t* lane) {
    return _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(lane)));
  }
  TS_INLINE Reg permute(Reg v, Index i) { return _mm512_permutexvar_pd(i, v); }
  TS_INLINE void add_to(double* sums, Reg v) { store(sums, add(load(sums), v)); }
};

template <>
struct Vec<float> {
  using Reg = __m512;
  using Mask = __mmask16;
  using Index = __m512i;
  static constexpr int lanes = 16;

  TS_INLINE Mask first(index_t count) { return static_cast<Mask>((1u << count) - 1u); }
  TS_INLINE Reg zero() { return _mm512_setzero_ps(); }
  TS_INLINE Reg load(const float* p) { return _mm512_loadu_ps(p); }
  TS_INLINE Reg load(const bfloat16* p) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  TS_INLINE Reg load(const float16* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  TS_INLINE Reg load_first(const float* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
  TS_INLINE void store(float* p, Reg v) { _mm512_storeu_ps(p, v); }
  TS_INLINE void store_first(float* p, Mask m, Reg v) { _mm512_mask_storeu_ps(p, m, v); }
  TS_INLINE void stream(float* p, Reg v) { _mm512_stream_ps(p, v); }
  TS_INLINE Reg broadcast(float x) { return _mm512_set1_ps(x); }
  TS_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  TS_INLINE Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  TS_INLINE Index index(const std::int32_t* lane) { return _mm512_loadu_si512(lane); }
  TS_INLINE Reg permute(Reg v, Index i) { return _mm512_permutexvar_ps(i, v); }
  TS_INLINE void add_to(double* sums, Reg v) {
    Vec<double>::add_to(sums, _mm512_cvtps_pd(_mm512_castps512_ps256(v)));
    Vec<double>::add_to(sums + 8, _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));
  }
};

/// Keeps a vector that several instructions use in a register: the compiler would read it from memory for
/// each.
template <class Reg>
TS_INLINE void keep(Reg& v) {
  asm("" : "+v"(v));
}

TS_INLINE void fence() { _mm_sfence(); }

}  // namespace ts::inline v0::cpu::avx512
