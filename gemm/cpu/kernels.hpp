// The vector kernels of the fast path as tables of functions: one table for each set of instructions, all
// from one source (tile.hpp, narrow.hpp, move.hpp) compiled once for each set. Operands are plain row-major
// panels of real numbers; types, layouts, complex numbers and threads are the callers' business (panel.hpp,
// rows.hpp).
#pragma once

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::cpu {

/// Memory that will be read next. A kernel asks for one cache line of it in each step, so that the memory
/// keeps working while the arithmetic is done in cache. Reaching past the end is harmless.
struct Ahead {
  const void* data[2] = {nullptr, nullptr};
  index_t bytes[2] = {0, 0};
};

/// What becomes of results: stored, added to what is there, or stored past the caches (whole aligned lines
/// only).
enum class Write { store, add, stream };

/// Splits `n` into the fewest parts of at most `most`, as even as can be: part p begins at begin(p).
struct Split {
  index_t n, count;
  constexpr Split(index_t all, index_t most) : n(all), count((all + most - 1) / most) {}
  [[nodiscard]] constexpr index_t begin(index_t p) const { return n * p / count; }
};

/// Rows of reals, `ld` numbers apart.
template <class R>
struct Panel {
  const R* data;
  index_t ld;
};

/// Kernels for panels of R (float or double).
template <class R>
struct RealKernels {
  index_t lanes;         ///< of one vector
  index_t tile_rows;     ///< of the largest register tile
  index_t tile_columns;  ///< of the largest register tile

  /// sums(i, j) += sum_k a(k, i) b(k, j) for `depth` rows k of the panels a (m wide) and b (n wide). `sums`
  /// has m rows of ld_sums >= n, rounded up to whole vectors. With `upper`, entries below the diagonal are
  /// undefined. `pack`: null, or memory for depth * (m + n rounded up to whole vectors) numbers, into which
  /// wide panels are first copied tile by tile.
  struct Inner {
    Panel<R> a;
    index_t m;
    Panel<R> b;
    index_t n, depth;
    bool upper;
    double* sums;
    index_t ld_sums;
    R* pack;
  };
  void (*inner)(const Inner&, const Ahead& ahead);

  /// out(i, j) = sum_k x(i, k) s(first + k, j) for k < depth, or += with Write::add. The factor s has s_depth
  /// rows and lies in groups of columns, each group row by row without gaps and padded to whole vectors, one
  /// group for each part of Split(vectors, tile_columns / lanes).
  struct Outer {
    Panel<R> x;
    index_t rows, depth;
    const R* s;
    index_t s_depth, first, n;
    R* out;
    index_t ld_out;
    Write write;
  };
  void (*outer)(const Outer&, const Ahead& ahead);

  /// out(i, j) = sum_k x(i, k) st(j, k) for k < depth, or += with `add`: the long dimension lies in the
  /// lanes. `next`: null, or the first of the rows (ld_x apart) that follow and are asked for meanwhile.
  struct Dots {
    Panel<R> x;
    index_t rows, depth;
    Panel<R> st;
    index_t n;
    R* out;
    index_t ld_out;
    bool add;
    const R* next;
  };
  void (*dots)(const Dots&);

  /// y(i, j) = x(i, j) + beta y(i, j), where beta = 0 never reads y.
  void (*store)(const R* x, index_t ld_x, index_t rows, index_t n, R beta, R* y, index_t ld_y);
  /// y = x past the caches.
  void (*stream)(const R* x, index_t count, R* y);
};

/// Lanes of one vector that hold `fold` whole rows of a narrow matrix (Tang et al. 2021, section 3.3, for
/// vectors instead of tensor fragments): `index[d]` says which lane of the one operand meets each lane of the
/// other.
struct Fold {
  static constexpr int max_count = 8, max_lanes = 16;
  index_t fold = 1;     ///< rows in a vector
  index_t width_a = 0;  ///< lanes of one row of the permuted operand
  index_t width_b = 0;  ///< lanes of one row of the other operand, or of the result
  int count = 0;        ///< permutations in use
  std::int32_t index[max_count][max_lanes] = {};
};

/// Kernels for narrow contiguous panels (ld = width) of elements E: float, double, or 16 bits as stored.
template <class E>
struct NarrowKernels {
  using R = real_t<E>;
  /// sums(d, l) += sum over vectors of permute_d(a)(l) b(l), d < count, l < lanes; `rows` need not be a
  /// multiple of fold.
  void (*inner)(const E* a, const E* b, index_t rows, const Fold& fold, double* sums);
  /// out row = x row times S, with tiled(d, l) = S(d, l mod width_b). `out` is contiguous with room for one
  /// more vector behind its end. `stream`: past the caches, for whole vectors of rows and aligned `out` only.
  void (*outer)(const E* x, index_t rows, const Fold& fold, const R* tiled, bool stream, R* out);
};

/// y = x for elements of 16 bits as stored.
template <class E>
struct WidenKernel {
  void (*widen)(const E* x, index_t count, float* y);
};

struct Kernels {
  const char* name;
  bool has_permute;  ///< NarrowKernels are faster than RealKernels
  RealKernels<double> f64;
  RealKernels<float> f32;
  RealTypes::tuple_of<NarrowKernels> narrow_kernels;
  HalfTypes::tuple_of<WidenKernel> widen;
  void (*publish)();  ///< orders streamed results before all that this thread writes next

  template <class R>
  [[nodiscard]] const RealKernels<R>& real() const noexcept {
    if constexpr (std::is_same_v<R, double>)
      return f64;
    else
      return f32;
  }
  template <class E>
  [[nodiscard]] const NarrowKernels<E>& narrow() const noexcept {
    return std::get<NarrowKernels<E>>(narrow_kernels);
  }
};

/// The kernels for `simd`. @throws Error(invalid_argument) if this processor or this build does not have
/// them.
[[nodiscard]] const Kernels& kernels(Simd simd);

namespace base {
extern const Kernels table;
}
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}

}  // namespace ts::inline v0::cpu
