// Sums of squares of columns, in float64 whatever the elements are.
#pragma once

#include "tallskinny/gemm/cpu/sparse.hpp"

namespace ts::inline v0::cpu::TS_ISA {

using Doubles = Vec<double>::Reg;

/// Both halves of a vector of floats as doubles.
struct WidePair {
  Doubles low, high;
};
TS_INLINE WidePair widen_vector(Vec<float>::Reg v) {
#if defined(__AVX512F__)
  return {_mm512_cvtps_pd(_mm512_castps512_ps256(v)), _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1))};
#elif defined(__AVX2__)
  return {_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
#else
  return {Doubles{static_cast<double>(v[0]), static_cast<double>(v[1])},
          Doubles{static_cast<double>(v[2]), static_cast<double>(v[3])}};
#endif
}

/// NV vectors of columns; of the last one, `tail` lanes.
template <class E, int NV>
void add_squares(const E* x, index_t ld, index_t rows, index_t tail, double* sums) {
  using V = Vec<real_t<E>>;
  using D = Vec<double>;
  constexpr int wide = static_cast<int>(V::lanes) / D::lanes;  // vectors of doubles for one of elements
  const auto head = Head<E>::make(tail);
  Doubles sum[NV * wide];
  TS_UNROLL
  for (int v = 0; v < NV * wide; ++v) sum[v] = D::zero();
  constexpr index_t ahead = 8 << 10;  // bytes
  for (index_t i = 0; i < rows; ++i, x += ld) {
    TS_UNROLL
    for (int v = 0; v < NV; ++v) {
      ask_for(reinterpret_cast<const char*>(x + v * V::lanes) + ahead);
      const auto line =
          v < NV - 1 || tail == V::lanes ? V::load(x + v * V::lanes) : Head<E>::load(x + v * V::lanes, head);
      if constexpr (wide == 1) {
        sum[v] = D::fma(line, line, sum[v]);
      } else {
        const WidePair pair = widen_vector(line);
        sum[2 * v] = D::fma(pair.low, pair.low, sum[2 * v]);
        sum[2 * v + 1] = D::fma(pair.high, pair.high, sum[2 * v + 1]);
      }
    }
  }
  double lanes[NV * wide * D::lanes];
  TS_UNROLL
  for (int v = 0; v < NV * wide; ++v) D::store(lanes + v * D::lanes, sum[v]);
  const index_t count = (NV - 1) * V::lanes + tail;
  for (index_t l = 0; l < count; ++l) sums[l] += lanes[l];
}

template <class E>
void squares(const E* x, index_t ld, index_t rows, index_t width, double* sums) {
  constexpr index_t lanes = Vec<real_t<E>>::lanes, most = 4;
  for (index_t first = 0; first < width; first += most * lanes) {
    const index_t count = least(most * lanes, width - first), vectors = parts(count, lanes);
    const index_t tail = count - (vectors - 1) * lanes;
    const auto run = vectors == 1   ? add_squares<E, 1>
                     : vectors == 2 ? add_squares<E, 2>
                     : vectors == 3 ? add_squares<E, 3>
                                    : add_squares<E, 4>;
    run(x + first, ld, rows, tail, sums + first);
  }
}

}  // namespace ts::inline v0::cpu::TS_ISA
