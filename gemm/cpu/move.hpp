// Moving panels: widening 16-bit elements, adding results to memory, and writing past the caches.
#pragma once

#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::inline v0::cpu::TS_ISA {

template <class E>
void widen(const E* x, index_t count, float* y) {
  using V = Vec<float>;
  index_t i = 0;
  for (; i + V::lanes <= count; i += V::lanes) V::store(y + i, V::load(x + i));
  if (i == count) return;
  E rest[V::lanes] = {};
  float wide[V::lanes];
  for (index_t r = 0; r < count - i; ++r) rest[r] = x[i + r];
  V::store(wide, V::load(rest));
  for (index_t r = 0; r < count - i; ++r) y[i + r] = wide[r];
}

template <class R>
void store(const R* x, index_t ld_x, index_t rows, index_t n, R beta, R* y, index_t ld_y) {
  using V = Vec<R>;
  const index_t whole = (n - 1) / V::lanes * V::lanes;
  const auto last = V::first(n - whole);
  const typename V::Reg b = V::broadcast(beta);
  for (index_t i = 0; i < rows; ++i, x += ld_x, y += ld_y) {
    if (beta == R{}) {
      for (index_t j = 0; j < whole; j += V::lanes) V::store(y + j, V::load(x + j));
      V::store_first(y + whole, last, V::load_first(x + whole, last));
    } else {
      for (index_t j = 0; j < whole; j += V::lanes) V::store(y + j, V::fma(b, V::load(y + j), V::load(x + j)));
      V::store_first(y + whole, last, V::fma(b, V::load_first(y + whole, last), V::load_first(x + whole, last)));
    }
  }
}

template <class R>
void stream(const R* x, index_t count, R* y) {
  using V = Vec<R>;
  constexpr index_t line = 64 / static_cast<index_t>(sizeof(R));
  const auto misplaced = static_cast<index_t>((reinterpret_cast<std::uintptr_t>(y) / sizeof(R)) % line);
  index_t i = 0;
  for (const index_t head = least(count, misplaced ? line - misplaced : 0); i < head; ++i) y[i] = x[i];
  for (; i + line <= count; i += line) {
    TS_UNROLL
    for (index_t l = 0; l < line; l += V::lanes) V::stream(y + i + l, V::load(x + i + l));
  }
  for (; i < count; ++i) y[i] = x[i];
}

/// What was streamed is seen by whoever sees what this thread writes next.
inline void publish() { fence(); }

}  // namespace ts::inline v0::cpu::TS_ISA
