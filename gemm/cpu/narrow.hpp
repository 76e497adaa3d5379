// Narrow matrices, folded: several whole rows in one vector, so that a width of 1, 3 or 5 keeps its lanes
// busy and the loads are those of a flat array. Rows never mix: each lane meets only lanes of its own row, so
// a NaN or infinity stays in its row.
#pragma once

#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::inline v0::cpu::TS_ISA {

/// Bytes ahead of its use at which memory is asked for: without it the cores wait a third of the time.
inline constexpr index_t ahead = 8192;

/// With Same, b is a: it is read and widened once.
template <class E, int Count, bool Same>
void narrow_inner_count(const E* a, const E* b, index_t steps, index_t step_a, index_t step_b, const Fold& fold,
                        double* sums) {
  using V = Vec<real_t<E>>;
  constexpr int together = Count >= 4 ? 2 : Count >= 3 ? 3 : Count == 2 ? 4 : 8;  // hides the latency of fma
  typename V::Index index[Count];
  typename V::Reg c[together][Count];
  TS_UNROLL
  for (int d = 0; d < Count; ++d) {
    index[d] = V::index(fold.index[d]);
    TS_UNROLL
    for (int u = 0; u < together; ++u) c[u][d] = V::zero();
  }
  index_t t = 0;
  for (; t + together <= steps; t += together) {
    TS_UNROLL
    for (int u = 0; u < together; ++u) {
      ask_for(reinterpret_cast<const char*>(a + u * step_a) + ahead);
      if (!Same) ask_for(reinterpret_cast<const char*>(b + u * step_b) + ahead);
      const typename V::Reg x = V::load(a + u * step_a), y = Same ? x : V::load(b + u * step_b);
      TS_UNROLL
      for (int d = 0; d < Count; ++d) c[u][d] = V::fma(V::permute(x, index[d]), y, c[u][d]);
    }
    a += together * step_a;
    b += together * step_b;
  }
  for (; t < steps; ++t) {
    const typename V::Reg x = V::load(a), y = V::load(b);
    TS_UNROLL
    for (int d = 0; d < Count; ++d) c[0][d] = V::fma(V::permute(x, index[d]), y, c[0][d]);
    a += step_a;
    b += step_b;
  }
  TS_UNROLL
  for (int d = 0; d < Count; ++d) {
    for (int u = 1; u < together; ++u) c[0][d] = V::add(c[0][d], c[u][d]);
    V::add_to(sums + d * V::lanes, c[0][d]);
  }
}

template <class E, int Count>
void narrow_outer_count(const E* x, index_t steps, index_t step_x, index_t step_out, const Fold& fold,
                        const real_t<E>* tiled, bool stream, real_t<E>* out) {
  using V = Vec<real_t<E>>;
  typename V::Index index[Count];
  typename V::Reg s[Count];
  TS_UNROLL
  for (int d = 0; d < Count; ++d) {
    index[d] = V::index(fold.index[d]);
    s[d] = V::load(tiled + d * V::lanes);
  }
  for (index_t t = 0; t < steps; ++t) {
    ask_for(reinterpret_cast<const char*>(x + t * step_x) + ahead);
    const typename V::Reg row = V::load(x + t * step_x);
    typename V::Reg y = V::zero();
    TS_UNROLL
    for (int d = 0; d < Count; ++d) y = V::fma(V::permute(row, index[d]), s[d], y);
    stream ? V::stream(out + t * step_out, y) : V::store(out + t * step_out, y);
  }
}

template <class E>
struct NarrowCounts {
  using Inner = void (*)(const E*, const E*, index_t, index_t, index_t, const Fold&, double*);
  using Outer = void (*)(const E*, index_t, index_t, index_t, const Fold&, const real_t<E>*, bool, real_t<E>*);
  Inner inner[Fold::max_count], same[Fold::max_count];
  Outer outer[Fold::max_count];
  template <int Count = 1>
  constexpr void fill() {
    inner[Count - 1] = narrow_inner_count<E, Count, false>;
    same[Count - 1] = narrow_inner_count<E, Count, true>;
    outer[Count - 1] = narrow_outer_count<E, Count>;
    if constexpr (Count < Fold::max_count) fill<Count + 1>();
  }
  constexpr NarrowCounts() : inner{}, same{}, outer{} { fill(); }
};

template <class E>
constexpr NarrowCounts<E> narrow_counts;

/// Vectors that can be read whole, stepping `step` elements, without passing the end of `count` elements.
TS_INLINE index_t whole_vectors(index_t count, index_t step, index_t lanes) {
  return count < lanes ? 0 : (count - lanes) / step + 1;
}

/// The last rows of a panel in a buffer that can be read past their end; what is not there reads as zero.
template <class E>
struct Rest {
  static constexpr int capacity = 4 * Fold::max_lanes;
  E data[capacity];
  Rest(const E* from, index_t count) {
    for (int i = 0; i < capacity; ++i) data[i] = i < count ? from[i] : E{};
  }
};

template <class E>
void narrow_inner(const E* a, const E* b, index_t rows, const Fold& fold, double* sums) {
  constexpr index_t lanes = Vec<real_t<E>>::lanes;
  const index_t step_a = fold.fold * fold.width_a, step_b = fold.fold * fold.width_b;
  const bool same = a == b && step_a == step_b;
  const auto run = (same ? narrow_counts<E>.same : narrow_counts<E>.inner)[fold.count - 1];
  const index_t steps = least(rows / fold.fold, least(whole_vectors(rows * fold.width_a, step_a, lanes),
                                                      whole_vectors(rows * fold.width_b, step_b, lanes)));
  run(a, b, steps, step_a, step_b, fold, sums);
  for (index_t done = steps * fold.fold; done < rows; done += fold.fold) {
    const index_t count = least(fold.fold, rows - done);
    const Rest<E> rest_a(a + done * fold.width_a, count * fold.width_a);
    const Rest<E> rest_b(b + done * fold.width_b, count * fold.width_b);
    run(rest_a.data, same ? rest_a.data : rest_b.data, 1, step_a, step_b, fold, sums);
  }
}

template <class E>
void narrow_outer(const E* x, index_t rows, const Fold& fold, const real_t<E>* tiled, bool stream, real_t<E>* out) {
  constexpr index_t lanes = Vec<real_t<E>>::lanes;
  const index_t step_x = fold.fold * fold.width_a, step_out = fold.fold * fold.width_b;
  const auto run = narrow_counts<E>.outer[fold.count - 1];
  const index_t steps = least(rows / fold.fold, whole_vectors(rows * fold.width_a, step_x, lanes));
  run(x, steps, step_x, step_out, fold, tiled, stream, out);
  for (index_t done = steps * fold.fold; done < rows; done += fold.fold) {
    const Rest<E> rest(x + done * fold.width_a, least(fold.fold, rows - done) * fold.width_a);
    run(rest.data, 1, step_x, step_out, fold, tiled, stream, out + done * fold.width_b);
  }
}

}  // namespace ts::inline v0::cpu::TS_ISA
