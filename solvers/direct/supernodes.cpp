#include "tallskinny/solvers/direct/supernodes.hpp"

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

// Fortran's calls: addresses of 32-bit integers, matrices by columns.
using Text = const char*;
using Int = const int*;

template <class T>
struct Blas {
  using Triangle = void(Text side, Text uplo, Text op, Text diag, Int m, Int n, const T* alpha, const T* a, Int lda,
                        T* b, Int ldb);
  void (*gemm)(Text op_a, Text op_b, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, Int ldb,
               const T* beta, T* c, Int ldc) = nullptr;
  Triangle *trmm = nullptr, *trsm = nullptr;
  bool found = false;

  Blas() {
    const auto& library = lapack_library();
    const bool z = is_complex<T>;
    found = library.bind(gemm, z ? "zgemm_" : "dgemm_") && library.bind(trmm, z ? "ztrmm_" : "dtrmm_") &&
            library.bind(trsm, z ? "ztrsm_" : "dtrsm_");
  }
};

template <class T>
const Blas<T>& blas() {
  static const Blas<T> one;
  return one;
}

/// C = alpha op(A) B + beta C, m x n.
template <class T>
// NOLINTNEXTLINE(readability-function-size): the arguments of xGEMM
void gemm(Text op, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b, index_t ldb, T beta,
          T* c, index_t ldc) {
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  const int ld_a = static_cast<int>(lda), ld_b = static_cast<int>(ldb), ld_c = static_cast<int>(ldc);
  blas<T>().gemm(op, "N", &rows, &columns, &depth, &alpha, a, &ld_a, b, &ld_b, &beta, c, &ld_c);
}

/// B = L B or, inverse, L^-1 B with the lower triangle L of A, or with L^H for op "C"; L m x m, B m x n.
template <class T>
void lower(bool inverse, Text op, index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb) {
  const int rows = static_cast<int>(m), columns = static_cast<int>(n);
  const int ld_a = static_cast<int>(lda), ld_b = static_cast<int>(ldb);
  const T one = 1;
  (inverse ? blas<T>().trsm : blas<T>().trmm)("L", "L", op, "N", &rows, &columns, &one, a, &ld_a, b, &ld_b);
}

/// Columns of a block, in the order of the factor, and room for what a supernode reads or writes below itself.
template <class T>
class Steps {
 public:
  Steps(const Supernodes<T>& factor, index_t columns)
      : f_(factor), n_(std::ssize(f_.order)), p_(columns), x_(at(n_ * p_)) {
    index_t longest = 0;
    for (std::size_t s = 0; s + 1 < f_.first_row.size(); ++s)
      longest = std::max<index_t>(longest, f_.first_row[s + 1] - f_.first_row[s]);
    below_.resize(at(longest * p_));
  }

  T& operator()(index_t i, index_t j) { return x_[at(j * n_ + i)]; }

  /// X = step(X) but for P. A product with L reads what lies before a supernode unchanged when the last one comes
  /// first, a solution with L what is done when the first one does; L^H the other way round.
  void run(CholeskyStep step) {
    const bool adjoint = step == CholeskyStep::multiply_adjoint || step == CholeskyStep::solve_adjoint;
    const bool inverse = step == CholeskyStep::solve || step == CholeskyStep::solve_adjoint;
    const index_t count = std::ssize(f_.first_column) - 1;
    for (index_t i = 0; i < count; ++i) {
      const Block block(f_, adjoint == inverse ? count - 1 - i : i);
      T* const own = &x_[at(block.column)];
      const auto triangle = [&] {
        lower<T>(inverse, adjoint ? "C" : "N", block.columns, p_, block.values, block.rows(), own, n_);
      };
      if (adjoint != inverse) triangle();
      if (adjoint)
        gather(block, own, inverse ? T{-1} : T{1});
      else
        scatter(block, own, inverse ? T{-1} : T{1});
      if (adjoint == inverse) triangle();
    }
  }

 private:
  struct Block {
    index_t column, columns, under;
    const std::int64_t* row;  ///< below the block
    const T* values;

    Block(const Supernodes<T>& f, index_t s)
        : column(f.first_column[at(s)]),
          columns(f.first_column[at(s) + 1] - column),
          under(f.first_row[at(s) + 1] - f.first_row[at(s)] - columns),
          row(f.rows.data() + f.first_row[at(s)] + columns),
          values(f.values + f.first_value[at(s)]) {}
    [[nodiscard]] index_t rows() const { return columns + under; }
  };

  /// X of the rows below += factor * (L below) X of the block's own
  void scatter(const Block& b, const T* own, T factor) {
    if (b.under == 0) return;
    gemm<T>("N", b.under, p_, b.columns, factor, b.values + b.columns, b.rows(), own, n_, T{0}, below_.data(), b.under);
    for (index_t j = 0; j < p_; ++j)
      for (index_t i = 0; i < b.under; ++i) (*this)(b.row[i], j) += below_[at(j * b.under + i)];
  }
  /// X of the block's own += factor * (L below)^H X of the rows below
  void gather(const Block& b, T* own, T factor) {
    if (b.under == 0) return;
    for (index_t j = 0; j < p_; ++j)
      for (index_t i = 0; i < b.under; ++i) below_[at(j * b.under + i)] = (*this)(b.row[i], j);
    gemm<T>("C", b.columns, p_, b.under, factor, b.values + b.columns, b.rows(), below_.data(), b.under, T{1}, own, n_);
  }

  const Supernodes<T>& f_;
  index_t n_, p_;
  std::vector<T> x_, below_;
};

}  // namespace

template <class T>
bool has_supernodes() {
  return blas<T>().found;
}

template <class T>
void apply(const Context& ctx, const Supernodes<T>& factor, CholeskyStep step, HostView<const T> x, HostView<T> y) {
  constexpr index_t most_columns = 8;
  const index_t n = x.rows(), p = x.cols();
  const index_t blocks = (p + most_columns - 1) / most_columns;
  const bool order_after = step == CholeskyStep::multiply || step == CholeskyStep::solve_adjoint;
  const BlasThreads one(1);
  parallel_for(blas_threads(ctx), blocks, [&](index_t block) {
    const index_t first = block * p / blocks, last = (block + 1) * p / blocks;
    const auto row = [&](index_t i, bool ordered) { return ordered ? factor.order[at(i)] : i; };
    Steps<T> columns(factor, last - first);
    for (index_t j = first; j < last; ++j)
      for (index_t i = 0; i < n; ++i) columns(i, j - first) = x(row(i, !order_after), j);
    columns.run(step);
    for (index_t j = first; j < last; ++j)
      for (index_t i = 0; i < n; ++i) y(row(i, order_after), j) = columns(i, j - first);
  });
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, has_supernodes)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, apply)

}  // namespace ts::inline v0::solvers
