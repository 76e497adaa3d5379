#include "tallskinny/solvers/eigen/transform/folded.hpp"

#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

template <class T>
void FoldedOperator<T>::apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
  PlacedMatrix<T> w(ctx, y.space(), x.rows(), x.cols());
  shifted(ctx, x, w.view());
  shifted(ctx, w.cview(), y);
}

template <class T>
void FoldedOperator<T>::shifted(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
  if (a_.update(ctx, T{1}, centre_, x, T{0}, y)) return;
  a_.apply(ctx, x, y);
  ortho::Tall<T>(ctx).add(-centre_, x, T{1}, y);
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, FoldedOperator)

}  // namespace ts::inline v0::solvers
