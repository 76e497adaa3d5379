// A dense matrix whose rows are distributed over ranks, as an operator.
#pragma once

#include <span>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// A square dense matrix of which each rank has the rows that ctx.slabs gives it, row-major, in the caller's memory.
/// A product gathers X, n x b. The bits are those of DenseOperator at level gpu_to_gpu.
template <class T>
class DenseRows {
 public:
  /// @throws Error(invalid_argument) unless ctx.slabs has as many rows as there are columns, and for this rank those of
  /// `own`.
  DenseRows(const Context& ctx, HostView<const T> own);

  [[nodiscard]] index_t rows() const noexcept { return own_.rows(); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const;
  void residual(const Context& ctx, HostView<const T> x, std::span<const double> theta, HostView<T> r) const;
  [[nodiscard]] OperatorFacts facts() const noexcept { return {.entries = own_.cols() * own_.cols()}; }

 private:
  HostView<const T> own_;
};

}  // namespace ts::inline v0::solvers
