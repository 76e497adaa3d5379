// Sparse times block: the sums of a row stay in registers while its entries pass by.
#pragma once

#include <cstring>

#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/cpu/tile.hpp"

namespace ts::inline v0::cpu::TS_ISA {

/// What a vector is loaded from: the reals of a complex number, 16-bit elements as stored.
template <class T>
using element_t = std::conditional_t<std::is_same_v<T, result_t<T>>, real_t<T>, T>;
template <class T>
inline constexpr int reals = is_complex<T> ? 2 : 1;

template <class E>
TS_INLINE real_t<E> as_real(E x) {
  if constexpr (std::is_same_v<E, real_t<E>>) return x;
#if defined(__F16C__)
  else if constexpr (std::is_same_v<E, float16>)
    return _cvtsh_ss(x.bits);
#endif
  else
    return to_float(x);
}

/// The first lanes of a vector, of any element type; what lies behind them is not read.
template <class E>
struct Head {
  using V = Vec<real_t<E>>;
  index_t count;
  typename V::Mask mask;
  TS_INLINE Head make(index_t count) { return {count, V::first(count)}; }
  TS_INLINE typename V::Reg load(const E* p, const Head& head) {
    if constexpr (std::is_same_v<E, real_t<E>>) {
      return V::load_first(p, head.mask);
    } else {
      E lanes[V::lanes] = {};
      std::memcpy(lanes, p, static_cast<std::size_t>(head.count) * sizeof(E));
      return V::load(lanes);
    }
  }
};

/// Vectors of one row that are summed together. A complex entry needs two sums: with its real part and with
/// its imaginary part.
template <class T>
inline constexpr int sparse_vectors = is_complex<T> ? 2 : 4;

/// What becomes of the sums of a row of A X, in reals.
template <class R>
struct Written {
  R* to;  ///< of row `begin`
  index_t ld;
  R alpha = 1, diagonal = 0, beta = 0;  ///< where it is a step
};

/// Of X and `out` the columns from `first` on, in reals, of which the last vector has `tail`. `steps`: out = alpha (A +
/// diagonal I) X + beta out, else out = A X.
template <class T, class I, int NV, bool steps>
void gather_columns(const CsrView<T, Space::host, I>& a, index_t begin, index_t end, const Strided<const T>& x,
                    index_t first, index_t tail, const Written<real_t<T>>& written) {
  using E = element_t<T>;
  using R = real_t<T>;
  using V = Vec<R>;
  constexpr index_t ahead = 16;  // entries: hides the latency of memory behind some hundred cycles of work
  const auto head = Head<E>::make(tail);
  const auto mask = V::first(tail);
  const auto* base = reinterpret_cast<const E*>(x.data + first / reals<T>);
  const index_t ld = x.row_stride * reals<T>, last_entry = a.nonzeros();
  const index_t* const pointers = a.pointers;
  const I* const indices = a.indices;
  const T* const values = a.values;
  const auto alpha = V::broadcast(written.alpha), diagonal = V::broadcast(written.diagonal);
  const auto beta = V::broadcast(written.beta);
  R* out = written.to + first;
  for (index_t i = begin; i < end; ++i, out += written.ld) {
    typename V::Reg sum[NV], cross[NV];
    const auto load = [&](const E* row, typename V::Reg(&line)[NV]) {
      TS_UNROLL
      for (int v = 0; v < NV - 1; ++v) line[v] = V::load(row + v * V::lanes);
      line[NV - 1] = Head<E>::load(row + (NV - 1) * V::lanes, head);
    };
    TS_UNROLL
    for (int v = 0; v < NV; ++v) sum[v] = V::zero(), cross[v] = V::zero();
    typename V::Reg line[NV];
    if constexpr (steps) {
      load(base + i * ld, line);
      TS_UNROLL
      for (int v = 0; v < NV; ++v) sum[v] = V::fma(diagonal, line[v], sum[v]);
    }
    for (index_t e = pointers[i]; e < pointers[i + 1]; ++e) {
      const E* row = base + static_cast<index_t>(indices[e]) * ld;
      if (e + ahead < last_entry) __builtin_prefetch(base + static_cast<index_t>(indices[e + ahead]) * ld);
      load(row, line);
      if constexpr (is_complex<T>) {
        const auto re = V::broadcast(values[e].real()), im = V::broadcast(values[e].imag());
        TS_UNROLL
        for (int v = 0; v < NV; ++v) {
          sum[v] = V::fma(re, line[v], sum[v]);
          cross[v] = V::fma(im, line[v], cross[v]);
        }
      } else {
        const auto value = V::broadcast(as_real(values[e]));
        TS_UNROLL
        for (int v = 0; v < NV; ++v) sum[v] = V::fma(value, line[v], sum[v]);
      }
    }
    if constexpr (is_complex<T>) {  // (re x) + i (im x): the parts of the second sum change places
      R direct[NV * V::lanes], turned[NV * V::lanes];
      TS_UNROLL
      for (int v = 0; v < NV; ++v) {
        V::store(direct + v * V::lanes, sum[v]);
        V::store(turned + v * V::lanes, cross[v]);
      }
      for (index_t l = 0; l < NV * V::lanes; l += 2) {
        direct[l] -= turned[l + 1];
        direct[l + 1] += turned[l];
      }
      TS_UNROLL
      for (int v = 0; v < NV; ++v) sum[v] = V::load(direct + v * V::lanes);
    }
    if constexpr (steps) {
      const bool adds = written.beta != 0;
      TS_UNROLL
      for (int v = 0; v < NV; ++v) {
        R* const place = out + v * V::lanes;
        auto before = V::zero();
        if (adds) before = v == NV - 1 ? V::load_first(place, mask) : V::load(place);
        sum[v] = V::fma(alpha, sum[v], adds ? V::fma(beta, before, V::zero()) : before);
      }
    }
    TS_UNROLL
    for (int v = 0; v < NV - 1; ++v) V::store(out + v * V::lanes, sum[v]);
    V::store_first(out + (NV - 1) * V::lanes, mask, sum[NV - 1]);
  }
}

/// Calls work(first column in reals, integral_constant<number of vectors>, reals in the last one) for runs of
/// columns.
template <class T, class Work>
TS_INLINE void column_runs(index_t q, const Work& work) {
  constexpr index_t lanes = Vec<real_t<T>>::lanes, most = sparse_vectors<T>;
  const index_t width = q * reals<T>;
  for (index_t first = 0; first < width; first += most * lanes) {
    const index_t count = least(most * lanes, width - first), vectors = parts(count, lanes);
    const index_t tail = count - (vectors - 1) * lanes;
    switch (vectors) {
      case 1: work(first, std::integral_constant<int, 1>{}, tail); break;
      case 2: work(first, std::integral_constant<int, 2>{}, tail); break;
      case 3:
        if constexpr (most >= 3) work(first, std::integral_constant<int, 3>{}, tail);
        break;
      default:
        if constexpr (most >= 4) work(first, std::integral_constant<int, 4>{}, tail);
        break;
    }
  }
}

/// One column: the rows' sums are independent chains that the processor overlaps by itself.
template <class T, class I, bool steps>
void gather_single(const CsrView<T, Space::host, I>& a, index_t begin, index_t end, const Strided<const T>& x,
                   const Written<real_t<T>>& written) {
  real_t<T>* out = written.to;
  for (index_t i = begin; i < end; ++i, out += written.ld) {
    real_t<T> sum = 0;
    if constexpr (steps) sum = written.diagonal * as_real(x.data[i * x.row_stride]);
    for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e)
      sum += as_real(a.values[e]) * as_real(x.data[static_cast<index_t>(a.indices[e]) * x.row_stride]);
    if constexpr (steps) sum = written.alpha * sum + (written.beta == 0 ? 0 : written.beta * *out);
    *out = sum;
  }
}

template <class T, class I, bool steps>
void gather_rows(const CsrView<T, Space::host, I>& a, index_t begin, index_t end, const Strided<const T>& x,
                 const Written<real_t<T>>& written) {
  if constexpr (!is_complex<T>)
    if (x.cols == 1) return gather_single<T, I, steps>(a, begin, end, x, written);
  column_runs<T>(x.cols, [&](index_t first, auto vectors, index_t tail) {
    gather_columns<T, I, vectors.value, steps>(a, begin, end, x, first, tail, written);
  });
}

template <class T, class I>
void gather(const CsrView<T, Space::host, I>& a, index_t begin, index_t end, const Strided<const T>& x,
            result_t<T>* out) {
  gather_rows<T, I, false>(a, begin, end, x, {reinterpret_cast<real_t<T>*>(out), x.cols * reals<T>});
}

template <class T, class I>
void step(const typename SparseKernels<T, I>::Step& s, index_t begin, index_t end) {
  gather_rows<T, I, true>(s.a, begin, end, s.x,
                          {reinterpret_cast<real_t<T>*>(s.y.data + begin * s.y.row_stride), s.y.row_stride * reals<T>,
                           s.alpha, -s.shift, s.beta});
}

/// Of X and Y the columns from `first` on, in reals, of which the last vector has `tail`.
template <class T, class I, int NV>
void scatter_columns(const typename SparseKernels<T, I>::Scatter& s, index_t first, index_t tail) {
  using E = element_t<T>;
  using V = Vec<real_t<T>>;
  const auto head = Head<E>::make(tail);
  const auto mask = V::first(tail);
  const index_t* const pointers = s.a.pointers;
  const I* const indices = s.a.indices;
  const T* const values = s.a.values;
  const result_t<T> alpha = s.alpha;
  real_t<T>* const y = reinterpret_cast<real_t<T>*>(s.y.data) + first;
  const index_t ld_y = s.y.row_stride * reals<T>, first_column = s.first, end_column = s.end;
  for (index_t i = 0; i < s.a.rows; ++i) {
    const E* row = reinterpret_cast<const E*>(s.x.data + first / reals<T> + i * s.x.row_stride);
    // For complex numbers the second set of lines is i times the first: (-im, re).
    typename V::Reg line[NV], turned[NV];
    TS_UNROLL
    for (int v = 0; v < NV - 1; ++v) line[v] = V::load(row + v * V::lanes);
    line[NV - 1] = Head<E>::load(row + (NV - 1) * V::lanes, head);
    if constexpr (is_complex<T>) {
      real_t<T> direct[NV * V::lanes], swapped[NV * V::lanes];
      TS_UNROLL
      for (int v = 0; v < NV; ++v) V::store(direct + v * V::lanes, line[v]);
      for (int l = 0; l < NV * V::lanes; l += 2) swapped[l] = -direct[l + 1], swapped[l + 1] = direct[l];
      TS_UNROLL
      for (int v = 0; v < NV; ++v) turned[v] = V::load(swapped + v * V::lanes);
    }
    for (index_t e = pointers[i]; e < pointers[i + 1]; ++e) {
      const auto j = static_cast<index_t>(indices[e]);
      if (j < first_column || j >= end_column) continue;
      real_t<T>* out = y + j * ld_y;
      typename V::Reg old[NV];
      TS_UNROLL
      for (int v = 0; v < NV - 1; ++v) old[v] = V::load(out + v * V::lanes);
      old[NV - 1] = V::load_first(out + (NV - 1) * V::lanes, mask);
      if constexpr (is_complex<T>) {
        const real_t<T> im = s.conjugate ? -values[e].imag() : values[e].imag();
        const real_t<T> re = values[e].real();
        const auto a = V::broadcast(alpha.real() * re - alpha.imag() * im);
        const auto b = V::broadcast(alpha.real() * im + alpha.imag() * re);
        TS_UNROLL
        for (int v = 0; v < NV; ++v) old[v] = V::fma(b, turned[v], V::fma(a, line[v], old[v]));
      } else {
        const auto a = V::broadcast(alpha * as_real(values[e]));
        TS_UNROLL
        for (int v = 0; v < NV; ++v) old[v] = V::fma(a, line[v], old[v]);
      }
      TS_UNROLL
      for (int v = 0; v < NV - 1; ++v) V::store(out + v * V::lanes, old[v]);
      V::store_first(out + (NV - 1) * V::lanes, mask, old[NV - 1]);
    }
  }
}

template <class T, class I>
void scatter(const typename SparseKernels<T, I>::Scatter& s) {
  column_runs<T>(s.x.cols, [&](index_t first, auto vectors, index_t tail) {
    scatter_columns<T, I, vectors.value>(s, first, tail);
  });
}

}  // namespace ts::inline v0::cpu::TS_ISA
