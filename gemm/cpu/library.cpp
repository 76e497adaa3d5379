#include "tallskinny/gemm/cpu/library.hpp"

#include <limits>

#include "tallskinny/gemm/runtime/openblas.hpp"

namespace ts::inline v0::cpu {

namespace {

// Fortran's calls: addresses of 32-bit integers, matrices by columns.
template <class R>
struct Routines {
  void (*gemm)(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const R* alpha, const R* a,
               const int* lda, const R* b, const int* ldb, const R* beta, R* c, const int* ldc) = nullptr;
  void (*syrk)(const char* uplo, const char* op, const int* n, const int* k, const R* alpha, const R* a, const int* lda,
               const R* beta, R* c, const int* ldc) = nullptr;
};

struct Blas {
  Routines<double> f64;
  Routines<float> f32;
  bool found = false;

  Blas() {
    const auto& library = lapack_library();
    found = threads_may_call_openblas() && library.bind(f64.gemm, "dgemm_") && library.bind(f32.gemm, "sgemm_") &&
            library.bind(f64.syrk, "dsyrk_") && library.bind(f32.syrk, "ssyrk_");
  }
  template <class R>
  [[nodiscard]] const Routines<R>& of() const noexcept {
    if constexpr (std::is_same_v<R, double>)
      return f64;
    else
      return f32;
  }
};

const Blas& blas() {
  static const Blas one;
  return one;
}

/// Rows of reals, or their transpose.
template <class R>
struct Factor {
  Panel<R> rows;
  bool transposed;
};

template <class R>
const char* op_of(const Factor<R>& f) {
  return f.transposed ? "T" : "N";
}

/// C = alpha A B + beta C, m x n by rows: the transposes by columns.
template <class R>
// NOLINTNEXTLINE(readability-function-size): the arguments of xGEMM
void gemm(index_t m, index_t n, index_t k, R alpha, Factor<R> a, Factor<R> b, R beta, R* c, index_t ld_c) {
  const int rows = static_cast<int>(n), cols = static_cast<int>(m), depth = static_cast<int>(k);
  const int ld_a = static_cast<int>(a.rows.ld), ld_b = static_cast<int>(b.rows.ld), ld = static_cast<int>(ld_c);
  blas().of<R>().gemm(op_of(b), op_of(a), &rows, &cols, &depth, &alpha, b.rows.data, &ld_b, a.rows.data, &ld_a, &beta,
                      c, &ld);
}

/// The upper triangle of C = A^T A + beta C.
template <class R>
void syrk(index_t n, index_t k, Panel<R> a, R beta, R* c, index_t ld_c) {
  const int order = static_cast<int>(n), depth = static_cast<int>(k), ld_a = static_cast<int>(a.ld);
  const int ld = static_cast<int>(ld_c);
  const R one = 1;
  blas().of<R>().syrk("L", "N", &order, &depth, &one, a.data, &ld_a, &beta, c, &ld);
}

/// An even part of `n`, about `wanted` long and a multiple of `unit`.
index_t part_of(index_t n, index_t wanted, index_t unit) {
  const index_t parts = std::max<index_t>(1, (n + wanted / 2) / wanted);
  return round_up((n + parts - 1) / parts, unit);
}

bool fits(index_t n) { return n <= std::numeric_limits<int>::max(); }

/// Columns of a piece of the result: the packing of what is multiplied is a small part of the work.
constexpr index_t piece_columns = 512, unit = 16;

}  // namespace

bool library_pays(const Context& ctx, index_t p, index_t q) {
  // Measured with vectors of 32 bytes. Those of 64 bytes were not measured beyond 64 columns: there, the own kernels
  // are ahead, and stay.
  constexpr index_t least = 64, lanes_measured = 4;
  return std::min(p, q) >= least && ctx.simd == Simd::best && ctx.determinism == Determinism::run_to_run &&
         kernels(Simd::best).f64.lanes == lanes_measured && blas().found;
}

template <class T>
bool library_multiply(const Context& ctx, Op op_s, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s,
                      result_t<T> beta, Strided<result_t<T>> y) {
  using C = result_t<T>;
  using R = real_t<C>;
  const index_t p = x.cols * reals_in<T>, q = y.cols * reals_in<T>;
  // A row has the same bits whatever rows lie beside it, on any number of ranks: sgemm of OpenBLAS 0.3.21 does not keep
  // that.
  if (!std::is_same_v<R, double>) return false;
  if (!std::is_same_v<T, C> || x.col_stride != 1 || y.col_stride != 1 || std::imag(beta) != 0 ||
      !fits(x.row_stride * 2) || !fits(y.row_stride * 2) || !fits(q * 2) || !library_pays(ctx, p, q))
    return false;
  // alpha op(S) by rows; of complex numbers [Sr, Si; -Si, Sr], so that rows of X as they lie give rows of Y.
  const auto from = op_s == Op::none ? s : s.transposed();
  Matrix<R> factor(p, q);
  for (index_t i = 0; i < from.rows; ++i)
    for (index_t j = 0; j < from.cols; ++j) {
      if constexpr (is_complex<C>) {
        const C value = scaled(alpha, op_s == Op::adjoint ? std::conj(from(i, j)) : from(i, j));
        factor(2 * i, 2 * j) = factor(2 * i + 1, 2 * j + 1) = value.real();
        factor(2 * i, 2 * j + 1) = value.imag(), factor(2 * i + 1, 2 * j) = -value.imag();
      } else {
        factor(i, j) = alpha * from(i, j);
      }
    }
  const index_t width = part_of(q, piece_columns, unit), across = (q + width - 1) / width;
  const index_t height = std::clamp<index_t>(round_up((x.rows + 3) / 4, 64), 128, 2048);
  const index_t down = (x.rows + height - 1) / height;
  const BlasThreads one(1);
  parallel_pieces(
      threads_for(ctx, x.rows * (p + q) * static_cast<index_t>(sizeof(R))), across * down, [&](index_t piece, int) {
        const index_t i = piece / across * height, j = piece % across * width;
        gemm<R>(std::min(height, x.rows - i), std::min(width, q - j), p, R{1},
                {{reinterpret_cast<const R*>(x.data + i * x.row_stride), x.row_stride * reals_in<T>}, false},
                {{factor.data() + j, q}, false}, std::real(beta), reinterpret_cast<R*>(y.data + i * y.row_stride) + j,
                y.row_stride * reals_in<T>);
      });
  return true;
}

namespace {

/// C = alpha C, and of a Gram matrix the lower triangle as the upper one.
template <class C>
void finish_direct(int threads, C alpha, Strided<C> c, bool gram) {
  constexpr index_t block = 64;
  const auto in_rows = [&](const auto& visit) {
    parallel_pieces(threads, (c.rows + block - 1) / block, [&](index_t piece, int) {
      const index_t first = piece * block, last = std::min(c.rows, first + block);
      for (index_t left = 0; left < c.cols; left += block)
        for (index_t i = first; i < last; ++i) visit(i, left, std::min(c.cols, left + block));
    });
  };
  if (alpha != C{1})
    in_rows([&](index_t i, index_t left, index_t right) {
      for (index_t j = std::max(left, gram ? i : 0); j < right; ++j) c(i, j) *= alpha;
    });
  if (gram)
    in_rows([&](index_t i, index_t left, index_t right) {
      for (index_t j = left; j < std::min(right, i); ++j) c(i, j) = c(j, i);
    });
}

/// A piece of the sums of A^T B, m x n: sums = A^T B of some rows, or += with `add`.
template <class R>
struct SumsPiece {
  index_t m, n;
  bool upper;
  double* sums;
  index_t ld;
  R* buffer;  ///< m x n, for float32

  void take(Panel<R> a, Panel<R> b, index_t rows, bool add) const {
    R* c = buffer;
    index_t ld_c = n;
    if constexpr (std::is_same_v<R, double>) c = sums, ld_c = ld;
    const R beta = add && std::is_same_v<R, double> ? 1 : 0;
    if (upper)
      syrk<R>(n, rows, a, beta, c, ld_c);
    else
      gemm<R>(m, n, rows, R{1}, {a, true}, {b, false}, beta, c, ld_c);
    if constexpr (!std::is_same_v<R, double>)
      for (index_t i = 0; i < m; ++i)
        for (index_t j = upper ? i : 0; j < n; ++j)
          sums[i * ld + j] = (add ? sums[i * ld + j] : 0) + static_cast<double>(c[i * n + j]);
  }
};

}  // namespace

template <class T>
// NOLINTNEXTLINE(readability-function-size): the arguments of xGEMM, and of what calls it
bool library_inner(const Context& ctx, const Kernels& kernels, Op op, result_t<T> alpha, Strided<const T> a,
                   Strided<const T> b, result_t<T> beta, Strided<result_t<T>> c, bool gram) {
  using R = real_t<T>;
  const index_t p = a.cols * reals_in<T>, q = b.cols * reals_in<T>;
  if (!std::is_same_v<T, result_t<T>> || a.col_stride != 1 || b.col_stride != 1 || a.rows == 0 ||
      !fits(a.row_stride * 2) || !fits(b.row_stride * 2) || !library_pays(ctx, p, q))
    return false;
  constexpr index_t block = 4096, most_chunks = 64, memory = (index_t{32} << 20) / 8, outweighs = 8;
  const InnerProduct<T> product(kernels, a.cols, b.cols, gram);
  if (product.swapped()) std::swap(a, b);  // the wider one lies across
  const index_t m = std::min(p, q), n = std::max(p, q);
  const RowParts parts = row_parts(ctx, gram ? "gram" : "tsmttsm", a.rows);
  const Chunks chunks(parts, unit, std::clamp<index_t>(memory / product.size(), 1, most_chunks),
                      std::max<index_t>(512, outweighs * product.size() / (m + n)));
  const index_t height = part_of(m, piece_columns, unit), width = gram ? height : part_of(n, piece_columns, unit);
  const index_t down = (m + height - 1) / height, across = (n + width - 1) / width;
  const int threads = threads_for(ctx, a.rows * (p + q) * static_cast<index_t>(sizeof(R)));
  const bool direct = std::is_same_v<T, double> && chunks.count == 1 && parts.one() && !product.swapped() &&
                      c.col_stride == 1 && fits(c.row_stride) && beta == result_t<T>{};  // C takes the place of sums
  const index_t ld = direct ? c.row_stride : product.row_length();
  PartialSums partial(parts, chunks, direct ? 0 : product.size());
  Scratch<R> scratch(threads, std::is_same_v<R, double> ? 0 : height * width);
  const BlasThreads one(1);
  parallel_pieces(threads, chunks.count * down * across, [&](index_t piece, int thread) {
    const index_t chunk = piece / (down * across), i = piece / across % down * height, j = piece % across * width;
    double* const sums = (direct ? reinterpret_cast<double*>(c.data) : partial.of(chunk)) + i * ld + j;
    const SumsPiece<R> to{std::min(height, m - i), std::min(width, n - j), gram && i == j, sums, ld,
                          scratch.of(thread)};
    for (index_t r = 0; r < to.m && j + width >= n && !direct; ++r)
      std::fill(sums + r * ld + to.n, sums + r * ld + ld - j, 0.0);
    if (gram && j < i) {
      for (index_t r = 0; r < to.m && !direct; ++r) std::fill_n(sums + r * ld, to.n, 0.0);
      return;
    }
    const auto rows_from = [&](const Strided<const T>& v, index_t row, index_t column) -> Panel<R> {
      return {reinterpret_cast<const R*>(v.data + row * v.row_stride) + column, v.row_stride * reals_in<T>};
    };
    const index_t begin = chunks.begin(chunk), end = chunks.end(chunk);
    for (index_t k = begin; k < std::max(end, begin + 1); k += block)
      to.take(rows_from(a, k, i), rows_from(b, k, j), std::min(block, end - k), k > begin);
  });
  if (direct)
    finish_direct(threads, alpha, c, gram);
  else if (const double* const sums = partial.total(ctx, threads))
    product.finish(op, alpha, sums, beta, c);
  return true;
}

TS_FOR_EACH_TYPE(TS_FUNCTION, library_multiply)
TS_FOR_EACH_TYPE(TS_FUNCTION, library_inner)

}  // namespace ts::inline v0::cpu
