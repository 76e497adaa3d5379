#include "tallskinny/solvers/svd/rectangular.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

template <class T>
struct GramOperator {
  Rectangular<T> a;
  [[nodiscard]] index_t rows() const { return a.cols; }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    Matrix<T> w(a.rows, x.cols());
    a.times(ctx, x, w.view());
    a.adjoint_times(ctx, w.cview(), y);
  }
};

/// X - Q (Q^H X)
template <class T>
Matrix<T> project_out(const Context& ctx, HostView<const T> q, HostView<const T> x) {
  auto y = Matrix<T>::copy_of(x);
  Matrix<T> s(q.cols(), x.cols());
  if (q.cols() == 0) return y;
  tsmttsm(ctx, Op::adjoint, T{1}, q, x, T{0}, s.view());
  tsmm(ctx, Op::none, T{-1}, q, s.cview(), T{1}, y.view());
  return y;
}

/// From here on a matrix counts as tall and narrow.
template <class T>
bool is_tall(HostView<const T> a) {
  return 16 * a.cols() <= a.rows();
}

}  // namespace

template <class T>
Rectangular<T> rectangular(CsrView<T> a) {
  return {a.rows, a.cols,
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) { spmm(ctx, Op::none, T{1}, a, x, T{0}, y); },
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) { spmm(ctx, Op::adjoint, T{1}, a, x, T{0}, y); },
          0};
}

template <class T>
Rectangular<T> rectangular(HostView<const T> a) {
  return {a.rows(), a.cols(),
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) {
            if (is_tall(a)) return tsmm(ctx, Op::none, T{1}, a, x, T{0}, y);
            tsm2r(ctx, Op::none, T{1}, a, x, T{0}, y);
          },
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) {
            constexpr index_t wide = 64;  // products of wide blocks are the same whatever is tall
            if (is_tall(a) || x.cols() >= wide) return tsmttsm(ctx, Op::adjoint, T{1}, a, x, T{0}, y);
            tsm2r(ctx, Op::adjoint, T{1}, a, x, T{0}, y);
          },
          0};
}

template <class T>
Rectangular<T> adjoint(Rectangular<T> a) {
  std::swap(a.rows, a.cols);
  std::swap(a.times, a.adjoint_times);
  return a;
}

template <class T>
Rectangular<T> centred(Rectangular<T> a, std::vector<T> mu) {
  expects(static_cast<index_t>(mu.size()) == a.cols, "the means are not as many as the columns");
  double squares = 0;
  for (const T& x : mu) squares += std::norm(x);
  Rectangular<T> c{a.rows, a.cols, {}, {}, std::sqrt(static_cast<double>(a.rows) * squares)};
  c.times = [a, mu](const Context& ctx, HostView<const T> x, HostView<T> y) {
    a.times(ctx, x, y);
    for (index_t j = 0; j < x.cols(); ++j) {  // Y - 1 (mu^T X)
      T shift{};
      for (index_t i = 0; i < a.cols; ++i) shift += mu[at(i)] * x(i, j);
      for (index_t i = 0; i < a.rows; ++i) y(i, j) -= shift;
    }
  };
  c.adjoint_times = [a, mu](const Context& ctx, HostView<const T> x, HostView<T> y) {
    a.adjoint_times(ctx, x, y);
    for (index_t j = 0; j < x.cols(); ++j) {  // Y - conj(mu) (1^T X)
      T sum{};
      for (index_t i = 0; i < a.rows; ++i) sum += x(i, j);
      for (index_t i = 0; i < a.cols; ++i) y(i, j) -= conjugate(mu[at(i)]) * sum;
    }
  };
  return c;
}

template <class T>
std::vector<T> column_means(const Context& ctx, const Rectangular<T>& a) {
  Matrix<T> ones(a.rows, 1), sums(a.cols, 1);
  for (index_t i = 0; i < a.rows; ++i) ones(i, 0) = 1;
  a.adjoint_times(ctx, ones.cview(), sums.view());
  std::vector<T> means(at(a.cols));
  for (index_t j = 0; a.rows > 0 && j < a.cols; ++j) means[at(j)] = conjugate(sums(j, 0)) / static_cast<double>(a.rows);
  return means;
}

template <class T>
Operator<T> gram_operator(Rectangular<T> a) {
  return GramOperator<T>{std::move(a)};
}

template <class T>
Rectangular<T> deflated(Rectangular<T> a, HostView<const T> u, HostView<const T> v) {
  const auto between = [](typename Rectangular<T>::Product product, HostView<const T> before, HostView<const T> after) {
    return [=](const Context& ctx, HostView<const T> x, HostView<T> y) {
      product(ctx, project_out(ctx, before, x).cview(), y);
      ortho::copy_block<T>(ctx, project_out<T>(ctx, after, y).cview(), y);
    };
  };
  return {a.rows, a.cols, between(a.times, v, u), between(a.adjoint_times, u, v), a.cancelled};
}

template <class T>
Matrix<T> as_dense(const Context& ctx, const Rectangular<T>& a) {
  constexpr index_t width = 64;
  Matrix<T> dense(a.rows, a.cols);
  for (index_t first = 0; first < a.cols; first += width) {
    const index_t w = std::min(width, a.cols - first);
    auto unit = Matrix<T>::zeros(a.cols, w);
    Matrix<T> y(a.rows, w);
    for (index_t j = 0; j < w; ++j) unit(first + j, j) = 1;
    a.times(ctx, unit.cview(), y.view());
    ortho::copy_block<T>(ctx, y.cview(), dense.view().cols(first, w));
  }
  return dense;
}

#define TS_INSTANTIATE(T)                                    \
  template Rectangular<T> rectangular<T>(CsrView<T>);        \
  template Rectangular<T> rectangular<T>(HostView<const T>); \
  template Matrix<T> as_dense<T>(const Context&, const Rectangular<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, adjoint)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, centred)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, column_means)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, gram_operator)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, deflated)

}  // namespace ts::solvers
