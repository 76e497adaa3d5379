// The axes along which rows differ most, on the host and on a GPU.
#include "tallskinny/solvers/kmeans/axes.hpp"

#include <cmath>

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"
#include "tallskinny/tests/support/device.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using solvers::kmeans_detail::KMeansProblem;
using solvers::kmeans_detail::leading_axes;
using solvers::kmeans_detail::leading_space;

namespace {

/// Column j, of which every seventh comes first, varies like (1 + place)^-decay; all are about `middle`.
Matrix<float> falling(index_t n, index_t d, double decay, double middle) {
  Matrix<float> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) {
      const double u = Philox{7, 0}.uniform(static_cast<std::uint64_t>(i * d + j)) - 0.5;
      x(i, 7 * j % d) = static_cast<float>(middle + u * std::pow(1 + static_cast<double>(j), -decay));
    }
  return x;
}

double largest_error_of_orthonormality(const Matrix<double>& q) {
  double error = 0;
  for (index_t a = 0; a < q.cols(); ++a)
    for (index_t b = a; b < q.cols(); ++b) {
      double sum = a == b ? -1 : 0;
      for (index_t j = 0; j < q.rows(); ++j) sum += q(j, a) * q(j, b);
      error = std::max(error, std::abs(sum));
    }
  return error;
}

/// Of the variance of such columns, what `q` leaves beside what the first columns would.
double left_beside_best(const Matrix<double>& q, double decay) {
  const index_t d = q.rows();
  double all = 0, held = 0, best = 0;
  for (index_t j = 0; j < d; ++j) {
    const double variance = std::pow(1 + static_cast<double>(j), -2 * decay);
    all += variance, best += j < q.cols() ? variance : 0;
    for (index_t a = 0; a < q.cols(); ++a) held += variance * q(7 * j % d, a) * q(7 * j % d, a);
  }
  return (all - held) / (all - best);
}

struct OfRows {
  Context ctx;
  Rows rows;
  solvers::RowsInMemory source;
  KMeansProblem problem;

  OfRows(const Context& context, const Rows& x) : ctx(context), rows(x), source(rows), problem{ctx, source, {}, {}, 2} {
    problem.find_moments();
  }
};

}  // namespace

TEST_CASE("leading axes are orthonormal and leave little, by falling variance", "[kmeans]") {
  const auto [decay, most] = GENERATE(table<double, index_t>({{0.5, 30}, {1, 30}, {4, 8}}));
  const Matrix<float> x = falling(3000, 100, decay, 5);
  const OfRows of(Context{}, Rows(x.cview()));
  const Matrix<double> q = leading_axes(of.problem, most);
  REQUIRE(q.cols() == most);
  CHECK(largest_error_of_orthonormality(q) < test::allowed::short_sum);
  CHECK(left_beside_best(q, decay) < 1.15);
  // The first axis is the widest column.
  CHECK(std::abs(q(0, 0)) > 0.8);
}

TEST_CASE("rows of few dimensions have as many axes, equal rows none", "[kmeans]") {
  Matrix<float> x = falling(500, 60, 0.5, 0);
  for (index_t i = 0; i < 500; ++i)
    for (index_t j = 0; j < 60; ++j)
      if (j % 12 != 0) x(i, j) = x(i, j / 12 * 12);
  const OfRows of(Context{}, Rows(x.cview()));
  const Matrix<double> q = leading_axes(of.problem, 20);
  CHECK(q.cols() == 5);
  CHECK(largest_error_of_orthonormality(q) < test::allowed::short_sum);
  Matrix<float> same(500, 60);
  std::fill_n(same.data(), 500 * 60, 3.25F);
  CHECK(leading_axes(OfRows(Context{}, Rows(same.cview())).problem, 20).cols() == 0);
}

TEST_CASE("on a device, leading axes are orthonormal and leave little", "[gpu][kmeans]") {
  const double decay = GENERATE(0.5, 1.0);
  Context ctx = test::device_context();
  const Matrix<float> x = falling(20000, 128, decay, 5);
  const DeviceMatrix<float> there(ctx.stream, 20000, 128);
  copy(ctx.stream, DeviceView<float>::unchecked(there.data(), 20000, 128, 128), x.cview());
  const OfRows of(ctx, Rows(ctx.stream, there.cview()));
  const DeviceMatrix<double> found = leading_space(ctx, of.rows, of.problem.moments, 48);
  REQUIRE(found.cols() == 48);
  Matrix<double> q(128, 48);
  copy(ctx.stream, q.view(), found.cview());
  ctx.stream.synchronize();
  CHECK(largest_error_of_orthonormality(q) < test::allowed::six_digits);
  CHECK(left_beside_best(q, decay) < 1.15);
}
