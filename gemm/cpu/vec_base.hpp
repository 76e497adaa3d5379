// Vectors of 16 bytes in the compiler's own notation: SSE2 on x86-64, and whatever else a processor has for
// them elsewhere. The baseline that every build contains.
#pragma once

#include "tallskinny/gemm/core/types.hpp"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define TS_ISA base
#define TS_INLINE static inline __attribute__((always_inline))

namespace ts::inline v0::cpu::base {

inline constexpr int tile_rows = 4, tile_vectors = 2;  // 8 of 16 registers accumulate
inline constexpr bool has_permute = false;

template <class R>
struct BaseVec {
  typedef R Reg __attribute__((vector_size(16)));
  typedef R Loose __attribute__((vector_size(16), aligned(alignof(R)), may_alias));
  using Mask = index_t;
  static constexpr int lanes = 16 / sizeof(R);
  struct Index {
    std::int32_t lane[lanes];
  };

  TS_INLINE Mask first(index_t count) { return count; }
  TS_INLINE Reg zero() { return Reg{}; }
  TS_INLINE Reg load(const R* p) { return *reinterpret_cast<const Loose*>(p); }
  TS_INLINE Reg load_first(const R* p, Mask count) {
    if (count == lanes) return load(p);
    Reg v{};
    for (index_t i = 0; i < count; ++i) v[i] = p[i];
    return v;
  }
  TS_INLINE void store(R* p, Reg v) { *reinterpret_cast<Loose*>(p) = v; }
  TS_INLINE void store_first(R* p, Mask count, Reg v) {
    for (index_t i = 0; i < count; ++i) p[i] = v[i];
  }
  TS_INLINE Reg broadcast(R x) { return Reg{} + x; }
  TS_INLINE Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
  TS_INLINE Reg add(Reg a, Reg b) { return a + b; }
  TS_INLINE Index index(const std::int32_t* lane) {
    Index i;
    for (int l = 0; l < lanes; ++l) i.lane[l] = lane[l];
    return i;
  }
  TS_INLINE Reg permute(Reg v, const Index& i) {
    Reg out{};
    for (int l = 0; l < lanes; ++l) out[l] = v[i.lane[l]];
    return out;
  }
  TS_INLINE void add_to(double* sums, Reg v) {
    for (int l = 0; l < lanes; ++l) sums[l] += static_cast<double>(v[l]);
  }
};

template <class R>
struct Vec;

template <>
struct Vec<double> : BaseVec<double> {
  TS_INLINE void stream(double* p, Reg v) {
#if defined(__SSE2__)
    _mm_stream_pd(p, v);
#else
    store(p, v);
#endif
  }
};

template <>
struct Vec<float> : BaseVec<float> {
  using BaseVec<float>::load;
  // A float's bits: the 16 bits moved to its upper half, or for float16 its exponent's bias moved as well.
  // The product with 2^112 moves the bias and makes subnormals normal; infinity and NaN are put right after.
  TS_INLINE float widen(bfloat16 h) { return __builtin_bit_cast(float, std::uint32_t{h.bits} << 16); }
  TS_INLINE float widen(float16 h) {
    const std::uint32_t magnitude = h.bits & 0x7fffu;
    const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
    std::uint32_t bits = __builtin_bit_cast(std::uint32_t, scaled);
    if (magnitude >= 0x7c00u) bits = 0x7f800000u | (magnitude << 13);
    return __builtin_bit_cast(float, bits | (std::uint32_t{h.bits & 0x8000u} << 16));
  }
  template <class Half>
  TS_INLINE Reg load(const Half* p) {
    Reg v{};
    for (int l = 0; l < lanes; ++l) v[l] = widen(p[l]);
    return v;
  }
  TS_INLINE void stream(float* p, Reg v) {
#if defined(__SSE2__)
    _mm_stream_ps(p, v);
#else
    store(p, v);
#endif
  }
};

template <class Reg>
TS_INLINE void keep(Reg&) {}

TS_INLINE void fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace ts::inline v0::cpu::base
