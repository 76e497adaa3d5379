// Rows of one triangle of a symmetric matrix, used from both sides in one pass.
#pragma once

#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::cpu::TS_ISA {

/// N rows.
template <int N>
void both_sides_of(const double* a, index_t ld, index_t count, const double* x, const double* z, double* dots,
                   double* mirror) {
  using V = Vec<double>;
  constexpr index_t step = 2 * V::lanes;
  typename V::Reg sum[N][2], scale[N];
  TS_UNROLL
  for (int r = 0; r < N; ++r) sum[r][0] = sum[r][1] = V::zero(), scale[r] = V::broadcast(z[r]);
  index_t k = 0;
  for (; k + step <= count; k += step) {
    TS_UNROLL
    for (int h = 0; h < 2; ++h) {
      const index_t at = k + h * V::lanes;
      const auto from = V::load(x + at);
      auto to = V::load(mirror + at);
      TS_UNROLL
      for (int r = 0; r < N; ++r) {
        if (h == 0) ask_for(reinterpret_cast<const char*>(a + (r + N) * ld + at));  // the next rows
        auto element = V::load(a + r * ld + at);
        keep(element);
        sum[r][h] = V::fma(element, from, sum[r][h]);
        to = V::fma(element, scale[r], to);
      }
      V::store(mirror + at, to);
    }
  }
  TS_UNROLL
  for (int r = 0; r < N; ++r) {
    double lanes[V::lanes];
    V::store(lanes, V::add(sum[r][0], sum[r][1]));
    double dot = 0;
    for (const double lane : lanes) dot += lane;
    for (index_t tail = k; tail < count; ++tail)
      dot += a[r * ld + tail] * x[tail], mirror[tail] += a[r * ld + tail] * z[r];
    dots[r] += dot;
  }
}

inline void both_sides(const double* a, index_t ld, index_t rows, index_t count, const double* x, const double* z,
                       double* dots, double* mirror) {
  constexpr int together = 4;
  index_t r = 0;
  for (; r + together <= rows; r += together)
    both_sides_of<together>(a + r * ld, ld, count, x, z + r, dots + r, mirror);
  for (; r < rows; ++r) both_sides_of<1>(a + r * ld, ld, count, x, z + r, dots + r, mirror);
}

}  // namespace ts::cpu::TS_ISA
