#include "tallskinny/solvers/direct/supernodes.hpp"

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/ortho/blas.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

using ortho::blas_gemm;
using ortho::blas_lower;

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
        blas_lower<T>(inverse, adjoint ? "C" : "N", block.columns, p_, block.values, block.rows(), own, n_);
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
    blas_gemm<T>("N", "N", b.under, p_, b.columns, factor, b.values + b.columns, b.rows(), own, n_, T{0}, below_.data(),
                 b.under);
    for (index_t j = 0; j < p_; ++j)
      for (index_t i = 0; i < b.under; ++i) (*this)(b.row[i], j) += below_[at(j * b.under + i)];
  }
  /// X of the block's own += factor * (L below)^H X of the rows below
  void gather(const Block& b, T* own, T factor) {
    if (b.under == 0) return;
    for (index_t j = 0; j < p_; ++j)
      for (index_t i = 0; i < b.under; ++i) below_[at(j * b.under + i)] = (*this)(b.row[i], j);
    blas_gemm<T>("C", "N", b.columns, p_, b.under, factor, b.values + b.columns, b.rows(), below_.data(), b.under, T{1},
                 own, n_);
  }

  const Supernodes<T>& f_;
  index_t n_, p_;
  std::vector<T> x_, below_;
};

}  // namespace

template <class T>
void apply(const Context& ctx, const Supernodes<T>& factor, CholeskyStep step, HostView<const T> x, HostView<T> y) {
  constexpr index_t most_columns = 8;
  const index_t n = x.rows(), p = x.cols();
  const index_t blocks = (p + most_columns - 1) / most_columns;
  const bool order_after = step == CholeskyStep::multiply || step == CholeskyStep::solve_adjoint;
  const OneBlasThread blas;
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

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, apply)

}  // namespace ts::inline v0::solvers
