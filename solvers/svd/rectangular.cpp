#include "tallskinny/solvers/svd/rectangular.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
struct GramOperator {
  Rectangular<T> a;
  [[nodiscard]] index_t rows() const { return a.cols; }
  [[nodiscard]] Space space() const { return a.space; }
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
    PlacedMatrix<T> w(ctx, y.space(), a.rows, x.cols());
    a.times(ctx, x, w.view());
    a.adjoint_times(ctx, w.cview(), y);
  }
};

/// X - Q (Q^H X)
template <class T>
PlacedMatrix<T> project_out(const Context& ctx, PlacedView<const T> q, PlacedView<const T> x) {
  PlacedMatrix<T> y(ctx, x.space(), x.rows(), x.cols());
  ortho::copy_block<T>(ctx, x, y.view());
  if (q.cols() == 0) return y;
  Matrix<T> s(q.cols(), x.cols());
  ortho::Tall<T> tall(ctx);
  tall.inner(q, x, s.view());
  tall.subtract(q, s.cview(), y.view());
  return y;
}

/// `product(a, x, y)` with views of the place where X and Y are.
template <class Here, class There, class T, class Product>
void where(const Here& here, const There& there, PlacedView<const T> x, PlacedView<T> y, const Product& product) {
  if (y.space() == Space::host)
    product(here, x.host(), y.host());
  else
    product(there, x.template in<Space::device>(), y.template in<Space::device>());
}

}  // namespace

template <class T>
Rectangular<T> rectangular(CsrView<T> a, CsrView<T, Space::device> there) {
  const auto product = [a, there](Op op) {
    return [=](const Context& ctx, PlacedView<const T> x, PlacedView<T> y) {
      where(a, there, x, y, [&](auto m, auto from, auto to) { spmm(ctx, op, T{1}, m, from, T{0}, to); });
    };
  };
  return {.rows = a.rows,
          .cols = a.cols,
          .times = product(Op::none),
          .adjoint_times = product(Op::adjoint),
          .space = there.pointers != nullptr ? Space::device : Space::host};
}

template <class T>
Rectangular<T> rectangular(HostView<const T> a, DeviceView<const T> there) {
  Rectangular<T> products;
  products.rows = a.rows(), products.cols = a.cols();
  products.space = there.empty() ? Space::host : Space::device;
  products.times = [=](const Context& ctx, PlacedView<const T> x, PlacedView<T> y) {
    where(a, there, x, y, [&](auto m, auto from, auto to) {
      if (is_tall(m.rows(), m.cols())) return tsmm(ctx, Op::none, T{1}, m, from, T{0}, to);
      tsm2r(ctx, Op::none, T{1}, m, from, T{0}, to);
    });
  };
  products.adjoint_times = [=](const Context& ctx, PlacedView<const T> x, PlacedView<T> y) {
    constexpr index_t wide = 64;  // products of wide blocks are the same whatever is tall
    where(a, there, x, y, [&](auto m, auto from, auto to) {
      if (is_tall(m.rows(), m.cols()) || x.cols() >= wide) return tsmttsm(ctx, Op::adjoint, T{1}, m, from, T{0}, to);
      tsm2r(ctx, Op::adjoint, T{1}, m, from, T{0}, to);
    });
  };
  products.gram = [=](const Context& ctx, HostView<T> g) {
    const PlacedView<const T> at_home = there.empty() ? PlacedView<const T>(a) : PlacedView<const T>(there);
    ortho::Tall<T>(ctx).gram(at_home, g);
  };
  return products;
}

template <class T>
Rectangular<T> adjoint(Rectangular<T> a) {
  std::swap(a.rows, a.cols);
  std::swap(a.times, a.adjoint_times);
  a.gram = a.triangle = nullptr;
  return a;
}

template <class T>
PlacedMatrix<T> column_of_ones(const Context& ctx, Space space, index_t rows) {
  if constexpr (!is_complex<T>)
    if (space == Space::device) {  // nothing to send: there they are widened
      PlacedMatrix<float> narrow(ctx, space, rows, 1);
      cuda::fill_floats(ctx.stream, narrow.view().data(), 1.0F, static_cast<std::size_t>(rows));
      return cast<T, float>(ctx, narrow.cview());
    }
  Matrix<T> one(rows, 1);
  for (index_t i = 0; i < rows; ++i) one(i, 0) = 1;
  PlacedMatrix<T> ones(ctx, space, rows, 1);
  ortho::copy_block<T>(ctx, one.cview(), ones.view());
  return ones;
}

namespace {

/// Ones and the means as columns, where a matrix is at home and on the host.
template <class T>
struct Means {
  PlacedMatrix<T> ones, conjugates;

  Means(const Context& ctx, Space space, index_t rows, const std::vector<T>& mu)
      : ones(column_of_ones<T>(ctx, space, rows)), conjugates(ctx, space, static_cast<index_t>(mu.size()), 1) {
    Matrix<T> of_mu(conjugates.rows(), 1);
    for (index_t j = 0; j < of_mu.rows(); ++j) of_mu(j, 0) = conjugate(mu[at(j)]);
    ortho::copy_block<T>(ctx, of_mu.cview(), conjugates.view());
  }
};

/// Y - w (v^H X)
template <class T>
void subtract_outer(const Context& ctx, PlacedView<const T> w, PlacedView<const T> v, PlacedView<const T> x,
                    PlacedView<T> y) {
  Matrix<T> s(1, x.cols());
  ortho::Tall<T> tall(ctx);
  tall.inner(v, x, s.view());
  tall.combine(T{-1}, w, s.cview(), T{1}, y);
}

}  // namespace

template <class T>
Rectangular<T> centred(const Context& context, Rectangular<T> a, const std::vector<T>& mu) {
  expects(static_cast<index_t>(mu.size()) == a.cols, "the means are not as many as the columns");
  double squares = 0;
  for (const T& x : mu) squares += std::norm(x);
  Rectangular<T> c = a;
  c.gram = c.triangle = nullptr, c.cancelled = std::sqrt(static_cast<double>(a.rows) * squares);
  auto at_home = std::make_shared<const Means<T>>(context, a.space, a.rows, mu);
  auto here = a.space == Space::host ? at_home : std::make_shared<const Means<T>>(context, Space::host, a.rows, mu);
  const auto means = [=](Space space) -> const Means<T>& { return space == Space::host ? *here : *at_home; };
  c.times = [a, means](const Context& ctx, PlacedView<const T> x, PlacedView<T> y) {
    a.times(ctx, x, y);
    const Means<T>& m = means(y.space());
    subtract_outer<T>(ctx, m.ones.cview(), m.conjugates.cview(), x, y);  // Y - 1 (mu^T X)
  };
  c.adjoint_times = [a, means](const Context& ctx, PlacedView<const T> x, PlacedView<T> y) {
    a.adjoint_times(ctx, x, y);
    const Means<T>& m = means(y.space());
    subtract_outer<T>(ctx, m.conjugates.cview(), m.ones.cview(), x, y);  // Y - conj(mu) (1^T X)
  };
  return c;
}

template <class T>
std::vector<T> column_means(const Context& ctx, const Rectangular<T>& a) {
  const PlacedMatrix<T> ones = column_of_ones<T>(ctx, a.space, a.rows);
  PlacedMatrix<T> there(ctx, a.space, a.cols, 1);
  a.adjoint_times(ctx, ones.cview(), there.view());
  const Matrix<T> sums = std::move(there).to_host(ctx);
  std::vector<T> means(at(a.cols));
  for (index_t j = 0; a.rows > 0 && j < a.cols; ++j) means[at(j)] = conjugate(sums(j, 0)) / static_cast<double>(a.rows);
  return means;
}

template <class T>
Operator<T> gram_operator(Rectangular<T> a) {
  return GramOperator<T>{std::move(a)};
}

template <class T>
Rectangular<T> deflated(Rectangular<T> a, PlacedView<const T> u, PlacedView<const T> v) {
  const auto between = [](typename Rectangular<T>::Product product, PlacedView<const T> before,
                          PlacedView<const T> after) {
    return [=](const Context& ctx, PlacedView<const T> x, PlacedView<T> y) {
      product(ctx, project_out(ctx, before, x).cview(), y);
      ortho::copy_block<T>(ctx, project_out<T>(ctx, after, y).cview(), y);
    };
  };
  return {.rows = a.rows,
          .cols = a.cols,
          .times = between(a.times, v, u),
          .adjoint_times = between(a.adjoint_times, u, v),
          .space = a.space,
          .cancelled = a.cancelled};
}

template <class T>
PlacedMatrix<T> as_dense(const Context& ctx, const Rectangular<T>& a) {
  constexpr index_t width = 64;
  PlacedMatrix<T> dense(ctx, a.space, a.rows, a.cols);
  for (index_t first = 0; first < a.cols; first += width) {
    const index_t w = std::min(width, a.cols - first);
    auto identity = Matrix<T>::zeros(a.cols, w);
    for (index_t j = 0; j < w; ++j) identity(first + j, j) = 1;
    PlacedMatrix<T> unit(ctx, a.space, a.cols, w), y(ctx, a.space, a.rows, w);
    ortho::copy_block<T>(ctx, identity.cview(), unit.view());
    a.times(ctx, unit.cview(), y.view());
    ortho::copy_block<T>(ctx, y.cview(), dense.view().cols(first, w));
  }
  return dense;
}

#define TS_INSTANTIATE(T)                                                         \
  template Rectangular<T> rectangular<T>(CsrView<T>, CsrView<T, Space::device>);  \
  template Rectangular<T> rectangular<T>(HostView<const T>, DeviceView<const T>); \
  template PlacedMatrix<T> as_dense<T>(const Context&, const Rectangular<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, adjoint)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, column_of_ones)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, centred)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, column_means)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, gram_operator)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, deflated)

}  // namespace ts::inline v0::solvers
