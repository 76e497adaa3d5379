// X R^-1 in a transposed panel: the lanes are rows of X, so every row is computed alone.
#pragma once

#include "tallskinny/gemm/backend/cpu/row_kernels.hpp"
#include "tallskinny/gemm/backend/cpu/tile.hpp"

namespace ts::cpu::TS_ISA {

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
        V::store(x + j * panel_rows + first + v * V::lanes,
                 V::fma(minus, im[v], V::fma(c, re[v], V::zero())));
        V::store(imaginary + j * panel_rows + first + v * V::lanes,
                 V::fma(plus, re[v], V::fma(c, im[v], V::zero())));
      }
    }
  }
}

template <class C>
void solve(real_t<C>* x, index_t p, const C* r, const C* inverse) {
  substitute(x, p, r, inverse);
}

}  // namespace ts::cpu::TS_ISA
