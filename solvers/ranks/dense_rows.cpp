#include "tallskinny/solvers/ranks/dense_rows.hpp"

#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/ranks/halo_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// All rows of X, of which each rank has some.
template <class T>
Matrix<T> gathered(const Context& ctx, HostView<const T> x) {
  const index_t first = first_row(ctx);
  Matrix<T> all(all_rows(ctx, x.rows()), x.cols());
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t j = 0; j < x.cols(); ++j) all(first + i, j) = x(i, j);
  const int ranks = ctx.communicator->size();
  if (ranks == 1 || all.empty()) return all;
  std::vector<std::size_t> offsets;
  for (int r = 0; r <= ranks; ++r)
    offsets.push_back(static_cast<std::size_t>(ctx.slabs.begin(r) * x.cols()) * sizeof(T));
  expects(ctx.communicator->all_gather(reinterpret_cast<std::byte*>(all.data()), offsets),
          "slabs that come one after the other cannot gather a block");
  return all;
}

}  // namespace

template <class T>
DenseRows<T>::DenseRows(const Context& ctx, HostView<const T> own) : own_(own) {
  detail::expect_own(ctx, own.rows(), own.cols());
}

template <class T>
void DenseRows<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  const Matrix<T> all = gathered(ctx, x);
  tsm2r(ctx, Op::none, T{1}, own_, all.cview(), T{0}, y);
}

template <class T>
void DenseRows<T>::residual(const Context& ctx, HostView<const T> x, std::span<const double> theta,
                            HostView<T> r) const {
  const Matrix<T> all = gathered(ctx, x);
  compensated_residual(ctx, own_, all.cview(), theta, r, first_row(ctx));
}

TS_FOR_EACH_RESULT_TYPE(TS_CLASS, DenseRows)

}  // namespace ts::inline v0::solvers
