#include "tallskinny/solvers/svd/rectangular.hpp"

#include <utility>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
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

template <class T>
struct AugmentedOperator {
  Rectangular<T> a;
  [[nodiscard]] index_t rows() const { return a.rows + a.cols; }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    a.times(ctx, x.rows(a.rows, a.cols), y.rows(0, a.rows));
    a.adjoint_times(ctx, x.rows(0, a.rows), y.rows(a.rows, a.cols));
  }
};

/// From here on a matrix counts as tall and narrow.
template <class T>
bool is_tall(HostView<const T> a) {
  return 16 * a.cols() <= a.rows();
}

}  // namespace

template <class T>
Rectangular<T> rectangular(CsrView<T> a) {
  return {a.rows, a.cols,
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) {
            spmm(ctx, Op::none, T{1}, a, x, T{0}, y);
          },
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) {
            spmm(ctx, Op::adjoint, T{1}, a, x, T{0}, y);
          }};
}

template <class T>
Rectangular<T> rectangular(HostView<const T> a) {
  return {a.rows(), a.cols(),
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) {
            if (is_tall(a)) return tsmm(ctx, Op::none, T{1}, a, x, T{0}, y);
            tsm2r(ctx, Op::none, T{1}, a, x, T{0}, y);
          },
          [a](const Context& ctx, HostView<const T> x, HostView<T> y) {
            if (is_tall(a)) return tsmttsm(ctx, Op::adjoint, T{1}, a, x, T{0}, y);
            tsm2r(ctx, Op::adjoint, T{1}, a, x, T{0}, y);
          }};
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
  Rectangular<T> c{a.rows, a.cols, {}, {}};
  c.times = [a, mu](const Context& ctx, HostView<const T> x, HostView<T> y) {
    a.times(ctx, x, y);
    for (index_t j = 0; j < x.cols(); ++j) {  // Y - 1 (mu^T X)
      T shift{};
      for (index_t i = 0; i < a.cols; ++i) shift += mu[static_cast<std::size_t>(i)] * x(i, j);
      for (index_t i = 0; i < a.rows; ++i) y(i, j) -= shift;
    }
  };
  c.adjoint_times = [a, mu](const Context& ctx, HostView<const T> x, HostView<T> y) {
    a.adjoint_times(ctx, x, y);
    for (index_t j = 0; j < x.cols(); ++j) {  // Y - conj(mu) (1^T X)
      T sum{};
      for (index_t i = 0; i < a.rows; ++i) sum += x(i, j);
      for (index_t i = 0; i < a.cols; ++i) y(i, j) -= conjugate(mu[static_cast<std::size_t>(i)]) * sum;
    }
  };
  return c;
}

template <class T>
std::vector<T> column_means(const Context& ctx, const Rectangular<T>& a) {
  Matrix<T> ones(a.rows, 1), sums(a.cols, 1);
  for (index_t i = 0; i < a.rows; ++i) ones(i, 0) = 1;
  a.adjoint_times(ctx, ones.cview(), sums.view());
  std::vector<T> means(static_cast<std::size_t>(a.cols));
  for (index_t j = 0; a.rows > 0 && j < a.cols; ++j)
    means[static_cast<std::size_t>(j)] = conjugate(sums(j, 0)) / static_cast<double>(a.rows);
  return means;
}

template <class T>
Operator<T> gram_operator(Rectangular<T> a) {
  return GramOperator<T>{std::move(a)};
}

template <class T>
Operator<T> augmented_operator(Rectangular<T> a) {
  return AugmentedOperator<T>{std::move(a)};
}

#define TS_INSTANTIATE(T)                                                         \
  template Rectangular<T> rectangular<T>(CsrView<T>);                             \
  template Rectangular<T> rectangular<T>(HostView<const T>);                      \
  template Rectangular<T> adjoint<T>(Rectangular<T>);                             \
  template Rectangular<T> centred<T>(Rectangular<T>, std::vector<T>);             \
  template std::vector<T> column_means<T>(const Context&, const Rectangular<T>&); \
  template Operator<T> gram_operator<T>(Rectangular<T>);                          \
  template Operator<T> augmented_operator<T>(Rectangular<T>);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
