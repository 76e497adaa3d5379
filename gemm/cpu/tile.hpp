// The register tile: the one piece of arithmetic behind every dense operation. No include guard games: this
// file is included once by each kernels_*.cpp, after the vectors of its instruction set.
#pragma once

#include "tallskinny/gemm/cpu/kernels.hpp"

#if defined(__clang__)
#define TS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TS_UNROLL _Pragma("GCC unroll 32")
#endif

namespace ts::inline v0::cpu::TS_ISA {

TS_INLINE index_t least(index_t a, index_t b) { return a < b ? a : b; }
TS_INLINE index_t parts(index_t n, index_t part) { return (n + part - 1) / part; }

/// What a tile asks for in each of its steps, to the second-level cache: `lines` cache lines of the one
/// stream that `next` points at, then of `then`; or one line of each of both where a tile has few steps.
struct Lines {
  const char *next, *then;
  index_t left;   ///< steps until `next` is through and `then` follows
  index_t lines;  ///< 0: one of each stream, else lines of `next` a step

  void advance(index_t steps) {
    next += steps * (lines == 0 ? line : lines * line);
    if (lines == 0) {
      then += steps * line;
    } else if ((left -= steps) <= 0 && then != nullptr) {
      next = then, then = nullptr;
    }
  }
  static constexpr index_t line = 64;
};

/// Spreads what `a` asks for over `tiles` tiles of `depth` steps.
TS_INLINE Lines share(const Ahead& a, index_t tiles, index_t depth, const void* at_hand) {
  const auto* first = static_cast<const char*>(a.bytes[0] > 0 ? a.data[0] : at_hand);
  const auto* second = static_cast<const char*>(a.bytes[1] > 0 ? a.data[1] : nullptr);
  const index_t lines_first = parts(a.bytes[0], Lines::line), lines_second = parts(a.bytes[1], Lines::line);
  for (const index_t lines : {1, 2, 4}) {
    const index_t tiles_first = parts(lines_first, lines * depth);
    if (tiles_first + parts(lines_second, lines * depth) <= tiles || lines == 4)
      return {first, second, second == nullptr ? tiles * depth : tiles_first * depth, lines};
    if (lines == 1 && tiles == 1 && lines_first <= depth && lines_second <= depth) return {first, second, 0, 0};
  }
  return {};
}

/// To the second-level cache: lines on their way to the first one occupy the few places for its own misses.
TS_INLINE void ask_for(const char* p) {
  constexpr int second_level = 2;
  __builtin_prefetch(p, 0, second_level);
}

/// The operands of a tile. Of the last vector only the lanes in `last` are read.
template <class R>
struct Factors {
  Panel<R> a, b;
  index_t depth;
  typename Vec<R>::Mask last;
};

/// c(i, v) = sum over k < depth of a(i, k) b(k, v), M rows by NV vectors. `a` is read one number at a time
/// and spread over a vector: a(i, k) = a[k * ld + i] if Across (rows are neighbours), else a[i * ld + k].
template <class R, bool Across, int M, int NV>
TS_INLINE void multiply(const Factors<R>& factors, Lines& ahead, typename Vec<R>::Reg (&c)[M][NV]) {
  using V = Vec<R>;
  const R *a = factors.a.data, *b = factors.b.data;
  const index_t step = factors.a.ld, ld_b = factors.b.ld, depth = factors.depth;
  const typename V::Mask last = factors.last;
  const R* row[M];
  TS_UNROLL
  for (int i = 0; i < M; ++i) {
    row[i] = Across ? a + i : a + i * step;
    TS_UNROLL
    for (int v = 0; v < NV; ++v) c[i][v] = V::zero();
  }
  const auto steps = [&](const auto& ask) {
    for (index_t k = 0; k < depth; ++k) {
      ask(k * Lines::line);
      typename V::Reg line[NV];
      TS_UNROLL
      for (int v = 0; v < NV - 1; ++v) line[v] = V::load(b + v * V::lanes);
      line[NV - 1] = V::load_first(b + (NV - 1) * V::lanes, last);
      TS_UNROLL
      for (int i = 0; i < M; ++i) {
        const typename V::Reg x = V::broadcast(Across ? a[i] : row[i][k]);
        TS_UNROLL
        for (int v = 0; v < NV; ++v) c[i][v] = V::fma(x, line[v], c[i][v]);
      }
      if (Across) a += step;
      b += ld_b;
    }
  };
  const char *next = ahead.next, *then = ahead.then;
  switch (ahead.lines) {
    case 0: steps([=](index_t at) { ask_for(next + at), ask_for(then + at); }); break;
    case 1: steps([=](index_t at) { ask_for(next + at); }); break;
    case 2: steps([=](index_t at) { ask_for(next + 2 * at), ask_for(next + 2 * at + 64); }); break;
    default:
      steps([=](index_t at) {
        TS_UNROLL
        for (int l = 0; l < 4; ++l) ask_for(next + 4 * at + 64 * l);
      });
  }
  ahead.advance(depth);
}

template <class R, int M, int NV>
void inner_tile(const Factors<R>& factors, Lines& ahead, double* sums, index_t ld_sums) {
  using V = Vec<R>;
  typename V::Reg c[M][NV];
  multiply<R, true, M, NV>(factors, ahead, c);
  TS_UNROLL
  for (int i = 0; i < M; ++i) {
    TS_UNROLL
    for (int v = 0; v < NV; ++v) V::add_to(sums + i * ld_sums + v * V::lanes, c[i][v]);
  }
}

/// `count` tiles below each other.
template <class R, int M, int NV>
void outer_tiles(index_t count, Factors<R> factors, Lines& ahead, R* out, index_t ld_out, Write write) {
  using V = Vec<R>;
  const typename V::Mask last = factors.last;
  Lines next = ahead;
  for (index_t t = 0; t < count; ++t, factors.a.data += M * factors.a.ld, out += M * ld_out) {
    typename V::Reg c[M][NV];
    multiply<R, false, M, NV>(factors, next, c);
    if (write == Write::add) {
      TS_UNROLL
      for (int i = 0; i < M; ++i) {
        const R* line = out + i * ld_out;
        TS_UNROLL
        for (int v = 0; v < NV - 1; ++v) c[i][v] = V::add(c[i][v], V::load(line + v * V::lanes));
        c[i][NV - 1] = V::add(c[i][NV - 1], V::load_first(line + (NV - 1) * V::lanes, last));
      }
    }
    TS_UNROLL
    for (int i = 0; i < M; ++i) {
      R* line = out + i * ld_out;
      if (write == Write::stream) {
        TS_UNROLL
        for (int v = 0; v < NV; ++v) V::stream(line + v * V::lanes, c[i][v]);
        continue;
      }
      TS_UNROLL
      for (int v = 0; v < NV - 1; ++v) V::store(line + v * V::lanes, c[i][v]);
      V::store_first(line + (NV - 1) * V::lanes, last, c[i][NV - 1]);
    }
  }
  ahead = next;
}

/// Every tile size up to the largest, so that edges cost what they are worth.
template <class R>
struct Tiles {
  using Inner = void (*)(const Factors<R>&, Lines&, double*, index_t);
  using Outer = void (*)(index_t, Factors<R>, Lines&, R*, index_t, Write);
  Inner inner[tile_rows][tile_vectors];
  Outer outer[tile_rows][tile_vectors];

  template <int M = 1, int NV = 1>
  constexpr void fill() {
    inner[M - 1][NV - 1] = inner_tile<R, M, NV>;
    outer[M - 1][NV - 1] = outer_tiles<R, M, NV>;
    if constexpr (NV < tile_vectors)
      fill<M, NV + 1>();
    else if constexpr (M < tile_rows)
      fill<M + 1, 1>();
  }
  constexpr Tiles() : inner{}, outer{} { fill(); }
};

template <class R>
constexpr Tiles<R> tiles;

/// Vectors begin .. end-1 of a row of n numbers that one tile takes, and the lanes of the last that are in
/// use.
template <class R>
struct Group {
  index_t begin, end;

  TS_INLINE Group part(const Split& split, index_t q) { return {split.begin(q), split.begin(q + 1)}; }
  index_t width() const { return (end - begin) * Vec<R>::lanes; }
  typename Vec<R>::Mask last(index_t n) const {
    return Vec<R>::first(least(Vec<R>::lanes, n - (end - 1) * Vec<R>::lanes));
  }
};

/// out(k, j) = x(k, j), j < width, with rows of ld_out.
template <class R>
void pack(const R* x, index_t ld_x, index_t width, index_t depth, R* out, index_t ld_out) {
  using V = Vec<R>;
  const index_t whole = (width - 1) / V::lanes * V::lanes;
  const auto last = V::first(width - whole);
  for (index_t k = 0; k < depth; ++k, x += ld_x, out += ld_out) {
    for (index_t j = 0; j < whole; j += V::lanes) V::store(out + j, V::load(x + j));
    V::store_first(out + whole, last, V::load_first(x + whole, last));
  }
}

template <class R>
void inner(const typename RealKernels<R>::Inner& x, const Ahead& ahead) {
  using V = Vec<R>;
  const R *const a = x.a.data, *const b = x.b.data;
  const index_t m = x.m, n = x.n, depth = x.depth;
  R* const packed = x.pack;
  const Split rows(m, tile_rows), vectors(parts(n, V::lanes), tile_vectors);
  if (packed != nullptr) {
    for (index_t p = 0; p < rows.count; ++p) {
      const index_t i = rows.begin(p), width = rows.begin(p + 1) - i;
      pack(a + i, x.a.ld, width, depth, packed + i * depth, width);
    }
    for (index_t q = 0; q < vectors.count; ++q) {
      const Group<R> g = Group<R>::part(vectors, q);
      const index_t j = g.begin * V::lanes;
      pack(b + j, x.b.ld, least(g.width(), n - j), depth, packed + (m + j) * depth, g.width());
    }
  }
  const auto for_each_tile = [&](const auto& use) {
    for (index_t q = 0; q < vectors.count; ++q)
      for (index_t p = 0; p < rows.count; ++p) {
        const Group<R> g = Group<R>::part(vectors, q);
        const index_t i = rows.begin(p);
        // Of a triangle, vectors wholly below the diagonal are left out.
        const index_t v = x.upper && g.begin < i / V::lanes ? i / V::lanes : g.begin;
        if (v < g.end) use(i, rows.begin(p + 1) - i, v, g);
      }
  };
  index_t tiles_used = 0;
  for_each_tile([&](index_t, index_t, index_t, const Group<R>&) { ++tiles_used; });
  Lines lines = share(ahead, tiles_used, depth, b);
  for_each_tile([&](index_t i, index_t height, index_t v, const Group<R>& g) {
    const index_t j = v * V::lanes;
    Panel<R> tile_a{a + i, x.a.ld}, tile_b{b + j, x.b.ld};
    if (packed != nullptr) {
      tile_a = {packed + i * depth, height};
      tile_b = {packed + (m + g.begin * V::lanes) * depth + (v - g.begin) * V::lanes, g.width()};
    }
    tiles<R>.inner[height - 1][g.end - v - 1]({tile_a, tile_b, depth, g.last(n)}, lines, x.sums + i * x.ld_sums + j,
                                              x.ld_sums);
  });
}

template <class R>
void outer(const typename RealKernels<R>::Outer& o, const Ahead& ahead) {
  using V = Vec<R>;
  const index_t whole = o.rows / tile_rows, remaining = o.rows % tile_rows, i = whole * tile_rows;
  const Split vectors(parts(o.n, V::lanes), tile_vectors);
  Lines lines = share(ahead, parts(o.rows, tile_rows) * vectors.count, o.depth, o.s);
  for (index_t q = 0; q < vectors.count; ++q) {
    const Group<R> g = Group<R>::part(vectors, q);
    const index_t j = g.begin * V::lanes;
    const Panel<R> group{o.s + j * o.s_depth + o.first * g.width(), g.width()};
    const auto run = [&](index_t row, index_t height, index_t count) {
      tiles<R>.outer[height - 1][g.end - g.begin - 1](count,
                                                      {{o.x.data + row * o.x.ld, o.x.ld}, group, o.depth, g.last(o.n)},
                                                      lines, o.out + row * o.ld_out + j, o.ld_out, o.write);
    };
    if (whole > 0) run(0, tile_rows, whole);
    if (remaining > 0) run(i, remaining, 1);
  }
}

}  // namespace ts::inline v0::cpu::TS_ISA
