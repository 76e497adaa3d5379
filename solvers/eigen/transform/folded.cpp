#include "tallskinny/solvers/eigen/transform/folded.hpp"

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

template <class T>
void FoldedOperator<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  Matrix<T> w(x.rows(), x.cols());
  shifted(ctx, x, w.view());
  shifted(ctx, w.cview(), y);
}

template <class T>
void FoldedOperator<T>::shifted(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  a_.apply(ctx, x, y);
  const index_t n = x.rows(), p = x.cols();
  parallel_for(ctx.thread_count(), n, [&](index_t i) {
    for (index_t j = 0; j < p; ++j) y(i, j) -= centre_ * x(i, j);
  });
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, FoldedOperator)

}  // namespace ts::solvers
