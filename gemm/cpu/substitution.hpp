// X R^-1 in a transposed panel: the lanes are rows of X, so every row is computed alone.
#pragma once

#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::inline v0::cpu::TS_ISA {

/// Vectors of rows that share the numbers of R once they are spread.
inline constexpr int together = 4;

template <class R>
void substitute(R* x, index_t p, const R* r, const R* inverse) {
  using V = Vec<R>;
  for (index_t first = 0; first < panel_rows; first += together * V::lanes) {
    R* rows = x + first;
    for (index_t j = 0; j < p; ++j) {
      typename V::Reg sum[together];
      TS_UNROLL
      for (int v = 0; v < together; ++v) sum[v] = V::load(rows + j * panel_rows + v * V::lanes);
      for (index_t k = 0; k < j; ++k) {
        const auto factor = V::broadcast(-r[j * p + k]);
        TS_UNROLL
        for (int v = 0; v < together; ++v)
          sum[v] = V::fma(factor, V::load(rows + k * panel_rows + v * V::lanes), sum[v]);
      }
      const auto scale = V::broadcast(inverse[j]);
      TS_UNROLL
      for (int v = 0; v < together; ++v)
        V::store(rows + j * panel_rows + v * V::lanes, V::fma(scale, sum[v], V::zero()));
    }
  }
}

template <class R>
void substitute(R* x, index_t p, const std::complex<R>* r, const std::complex<R>* inverse) {
  using V = Vec<R>;
  R* imaginary = x + p * panel_rows;
  constexpr int pairs = together / 2;
  for (index_t first = 0; first < panel_rows; first += pairs * V::lanes) {
    for (index_t j = 0; j < p; ++j) {
      typename V::Reg re[pairs], im[pairs];
      TS_UNROLL
      for (int v = 0; v < pairs; ++v) {
        re[v] = V::load(x + j * panel_rows + first + v * V::lanes);
        im[v] = V::load(imaginary + j * panel_rows + first + v * V::lanes);
      }
      for (index_t k = 0; k < j; ++k) {
        const std::complex<R> factor = r[j * p + k];
        const auto minus_re = V::broadcast(-factor.real());
        const auto minus_im = V::broadcast(-factor.imag()), plus_im = V::broadcast(factor.imag());
        TS_UNROLL
        for (int v = 0; v < pairs; ++v) {
          const auto a = V::load(x + k * panel_rows + first + v * V::lanes);
          const auto b = V::load(imaginary + k * panel_rows + first + v * V::lanes);
          re[v] = V::fma(plus_im, b, V::fma(minus_re, a, re[v]));
          im[v] = V::fma(minus_im, a, V::fma(minus_re, b, im[v]));
        }
      }
      const auto c = V::broadcast(inverse[j].real());
      const auto plus = V::broadcast(inverse[j].imag()), minus = V::broadcast(-inverse[j].imag());
      TS_UNROLL
      for (int v = 0; v < pairs; ++v) {
        V::store(x + j * panel_rows + first + v * V::lanes, V::fma(minus, im[v], V::fma(c, re[v], V::zero())));
        V::store(imaginary + j * panel_rows + first + v * V::lanes, V::fma(plus, re[v], V::fma(c, im[v], V::zero())));
      }
    }
  }
}

// a b + c in the lanes of a mask, c in the others: what is not behind the pivot must not meet an infinity of
// its row.
#if defined(__AVX512F__)
template <class R>
TS_INLINE typename Vec<R>::Mask mask_of(const std::int32_t* lanes) {
  if constexpr (std::is_same_v<R, double>)
    return _mm256_movepi32_mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes)));
  else
    return _mm512_movepi32_mask(_mm512_loadu_si512(lanes));
}
TS_INLINE __m512d fma_in(__mmask8 m, __m512d a, __m512d b, __m512d c) { return _mm512_mask3_fmadd_pd(a, b, c, m); }
TS_INLINE __m512 fma_in(__mmask16 m, __m512 a, __m512 b, __m512 c) { return _mm512_mask3_fmadd_ps(a, b, c, m); }
#elif defined(__AVX2__)
template <class R>
TS_INLINE __m256i mask_of(const std::int32_t* lanes) {
  if constexpr (std::is_same_v<R, double>)
    return _mm256_setr_epi64x(lanes[0], lanes[1], lanes[2], lanes[3]);
  else
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes));
}
TS_INLINE __m256d fma_in(__m256i m, __m256d a, __m256d b, __m256d c) {
  return _mm256_blendv_pd(c, _mm256_fmadd_pd(a, b, c), _mm256_castsi256_pd(m));
}
TS_INLINE __m256 fma_in(__m256i m, __m256 a, __m256 b, __m256 c) {
  return _mm256_blendv_ps(c, _mm256_fmadd_ps(a, b, c), _mm256_castsi256_ps(m));
}
#endif

template <class C>
void solve(real_t<C>* x, index_t p, const C* r, const C* inverse) {
  substitute(x, p, r, inverse);
}

#if defined(__AVX2__)
/// Count vectors at a time, P columns.
template <class C, int P, int Count>
TS_INLINE void narrow_vectors(real_t<C>* x, const NarrowFactor<real_t<C>>& f, typename Vec<real_t<C>>::Mask whole) {
  using R = real_t<C>;
  using V = Vec<R>;
  typename V::Reg y[Count];
  [[maybe_unused]] constexpr index_t ahead_bytes = 4 << 10;
  TS_UNROLL
  for (int u = 0; u < Count; ++u) {
    if constexpr (Count > 1) __builtin_prefetch(reinterpret_cast<const char*>(x + u * f.stride) + ahead_bytes, 1);
    y[u] = V::load(x + u * f.stride);
  }
  TS_UNROLL
  for (int k = 0; k < P - 1; ++k) {
    const auto lane = V::index(f.real_lane[k]);
    const auto mask = mask_of<R>(f.behind[k]);
    const auto tile = V::load(f.tile[k]);
    if constexpr (is_complex<C>) {
      const auto lane_im = V::index(f.imaginary_lane[k]);
      const auto turned = V::load(f.turned[k]);
      TS_UNROLL
      for (int u = 0; u < Count; ++u) {
        const auto re = V::permute(y[u], lane), im = V::permute(y[u], lane_im);
        y[u] = fma_in(mask, re, tile, y[u]);
        y[u] = fma_in(mask, im, turned, y[u]);
      }
    } else {
      TS_UNROLL
      for (int u = 0; u < Count; ++u) y[u] = fma_in(mask, V::permute(y[u], lane), tile, y[u]);
    }
  }
  const auto scale = V::load(f.scale);
  TS_UNROLL
  for (int u = 0; u < Count; ++u) {
    if constexpr (is_complex<C>) {
      const auto a = V::permute(y[u], V::index(f.own_real)), b = V::permute(y[u], V::index(f.own_imaginary));
      y[u] = V::fma(b, V::load(f.scale_turned), V::fma(a, scale, V::zero()));
    } else {
      y[u] = V::fma(y[u], scale, V::zero());
    }
    V::store_first(x + u * f.stride, whole, y[u]);
  }
}

template <class C, int P>
void narrow_columns(real_t<C>* x, index_t rows, index_t readable, const NarrowFactor<real_t<C>>& f) {
  using R = real_t<C>;
  constexpr index_t lanes = Vec<R>::lanes, count = 8;
  const auto whole = Vec<R>::first(f.step);
  const index_t width = f.step / f.fold, vectors = parts(rows, f.fold);
  index_t v = 0;
  for (; v + count <= rows / f.fold && (v + count - 1) * f.stride + lanes <= readable; v += count)
    narrow_vectors<C, P, count>(x + v * f.stride, f, whole);
  for (; v < vectors; ++v) {  // the last ones where memory beyond them may be read
    R rest[lanes] = {};
    R* const at = x + v * f.stride;
    const index_t there = least(f.fold, rows - v * f.fold) * width;
    for (index_t l = 0; l < there; ++l) rest[l] = at[l];
    narrow_vectors<C, P, 1>(rest, f, whole);
    for (index_t l = 0; l < there; ++l) at[l] = rest[l];
  }
}

template <class C, int P = 1>
void narrow_solve(real_t<C>* x, index_t rows, index_t readable, const NarrowFactor<real_t<C>>& f) {
  if (f.p == P) return narrow_columns<C, P>(x, rows, readable, f);
  if constexpr ((P + 1) * (is_complex<C> ? 2 : 1) <= Vec<real_t<C>>::lanes)
    narrow_solve<C, P + 1>(x, rows, readable, f);
}
template <class C>
constexpr SubstitutionKernels<C> substitution_kernels = {Vec<real_t<C>>::lanes, solve<C>, narrow_solve<C>};
#else
template <class C>
constexpr SubstitutionKernels<C> substitution_kernels = {0, solve<C>, nullptr};
#endif

}  // namespace ts::inline v0::cpu::TS_ISA
