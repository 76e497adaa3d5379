// Rows of one triangle of a symmetric matrix, used from both sides in one pass.
#pragma once

#include <type_traits>

#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::inline v0::cpu::TS_ISA {

/// N rows from row `first` on: what lies left of column `first`, and then the triangle on the diagonal.
template <int N>
void lower_rows_of(const double* a, index_t ld, index_t first, const double* x, double* y, double* mirror) {
  using V = Vec<double>;
  constexpr index_t lanes = V::lanes;
  typename V::Reg sum[N][2], scale[N];
  TS_UNROLL
  for (int r = 0; r < N; ++r) sum[r][0] = sum[r][1] = V::zero(), scale[r] = V::broadcast(x[first + r]);
  const auto step = [&](auto half, index_t k, const auto& load, const auto& store) {
    const auto from = load(x + k);
    auto to = load(mirror + k);
    TS_UNROLL
    for (int r = 0; r < N; ++r) {
      auto element = load(a + r * ld + k);
      keep(element);
      sum[r][half] = V::fma(element, from, sum[r][half]);
      to = V::fma(element, scale[r], to);
    }
    store(mirror + k, to);
  };
  const auto load = [](const double* p) { return V::load(p); };
  const auto store = [](double* p, typename V::Reg v) { V::store(p, v); };
  using Zero = std::integral_constant<int, 0>;
  using One = std::integral_constant<int, 1>;
  index_t k = 0;
  for (; k + 2 * lanes <= first; k += 2 * lanes) {
    TS_UNROLL
    for (int r = 0; r < N; ++r) ask_for(reinterpret_cast<const char*>(a + (r + N) * ld + k));  // the next rows
    step(Zero{}, k, load, store), step(One{}, k + lanes, load, store);
  }
  if (k + lanes <= first) step(Zero{}, k, load, store), k += lanes;
  if (k < first) {
    const auto mask = V::first(first - k);
    step(
        One{}, k, [mask](const double* p) { return V::load_first(p, mask); },
        [mask](double* p, typename V::Reg v) { V::store_first(p, mask, v); });
  }
  TS_UNROLL
  for (int r = 0; r < N; ++r) {
    double parts[lanes];
    V::store(parts, V::add(sum[r][0], sum[r][1]));
    double dot = 0;
    for (const double part : parts) dot += part;
    const double* const row = a + r * ld + first;
    for (int c = 0; c < r; ++c) dot += row[c] * x[first + c], mirror[first + c] += row[c] * x[first + r];
    y[first + r] = dot + row[r] * x[first + r];
  }
}

/// SymmetricKernels::lower_rows
inline void lower_rows(const double* a, index_t ld, index_t first, index_t last, const double* x, double* y,
                       double* mirror) {
  constexpr index_t together = 4;
  index_t i = first;
  for (; i + together <= last; i += together) lower_rows_of<together>(a + i * ld, ld, i, x, y, mirror);
  for (; i < last; ++i) lower_rows_of<1>(a + i * ld, ld, i, x, y, mirror);
}

}  // namespace ts::inline v0::cpu::TS_ISA
