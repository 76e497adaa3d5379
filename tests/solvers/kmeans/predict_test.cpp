// Labels for rows that pass by once.
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/device.hpp"

using namespace ts;
using namespace ts::solvers;
using solvers::kmeans_detail::leading_space;

namespace {

constexpr index_t row_count = 3 * chunk_rows + 77, width = 5, groups = 6;

Matrix<float> passing_points() {
  auto x = generators::uniform<float>(row_count, width, 4);
  for (index_t i = 0; i < row_count; ++i) x(i, 1) += static_cast<float>(i / chunk_rows);  // blocks differ
  return x;
}
Matrix<double> centers_of(const Matrix<float>& x) {
  Matrix<double> centers(groups, width);
  for (index_t m = 0; m < groups; ++m)
    for (index_t j = 0; j < width; ++j) centers(m, j) = x(m * 2000, j);
  return centers;
}
std::vector<double> third_weights() {
  std::vector<double> weights(static_cast<std::size_t>(row_count));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 4) / 3;
  return weights;
}

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

/// Share of the variance of such columns that `q` loses, relative to what the first columns lose.
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

}  // namespace

TEST_CASE("rows that pass by once get the labels and the inertia of rows in memory", "[kmeans][blocks]") {
  auto x = passing_points();
  for (index_t j = 0; j < width; ++j) x(7, j) = x(row_count - 1, j) = 0;
  const auto centers = centers_of(x);
  const KMeansMetric metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine);
  const std::vector<double> weights = GENERATE(0, 1) != 0 ? third_weights() : std::vector<double>();
  const Rows rows(x.cview());
  const auto whole = predict({}, rows, centers.cview(), metric, weights);
  for (const index_t chunks : {1, 2, 9}) {
    const test::InBlocks blocks(rows, chunks);
    const auto found = predict({}, blocks, centers.cview(), metric, weights);
    CHECK(blocks.passes == 1);
    test::expect_same(found, whole);
    CHECK(found.zero_rows == (metric == KMeansMetric::cosine ? 2 : 0));
    CHECK(verify({}, blocks, centers.cview(), found.labels, metric) == 0);
  }
  const auto fast = predict({}, test::InBlocks(rows, 1), centers.cview(), metric, weights, KMeansPrecision::fast);
  CHECK(fast.labels ==
        predict({}, test::InBlocks(rows, 3), centers.cview(), metric, weights, KMeansPrecision::fast).labels);
}

TEST_CASE("rows that pass by once are refused as rows in memory are", "[kmeans][blocks]") {
  const auto x = passing_points();
  const auto refused = [](const Matrix<double>& rows, std::span<const double> weights = {},
                          KMeansMetric metric = KMeansMetric::euclidean) {
    const auto centers = Matrix<double>::copy_of(rows.cview().rows(0, 2));
    return test::message_of(
        [&] { (void)predict({}, test::InBlocks(Rows(rows.cview())), centers.cview(), metric, weights); });
  };
  Matrix<double> good(row_count, width);
  for (index_t i = 0; i < row_count; ++i)
    for (index_t j = 0; j < width; ++j) good(i, j) = x(i, j);
  const auto with = [&](double value) {
    auto bad = Matrix<double>::copy_of(good.cview());
    bad(9000, 3) = value;
    return bad;
  };
  CHECK(refused(good).empty());
  for (const KMeansMetric metric : {KMeansMetric::euclidean, KMeansMetric::cosine})
    for (const double value : {std::nan(""), HUGE_VAL})
      CHECK(test::mentions(refused(with(value), {}, metric), "row 9000, column 3"));
  CHECK(test::mentions(refused(with(1e200)), "beyond 2^500"));
  CHECK(test::mentions(refused(with(1e308)), "beyond 2^500"));
  Matrix<double> small(row_count, width);
  for (index_t e = 0; e < row_count * width; ++e) small.data()[e] = std::ldexp(good.data()[e], -700);
  CHECK(test::mentions(refused(small), "differ by less than 2^-480"));
  Matrix<double> equal(row_count, width);
  std::fill_n(equal.data(), row_count * width, 3.5);
  CHECK(refused(equal).empty());
  const std::vector<double> heavy(static_cast<std::size_t>(row_count), 1e308),
      light(static_cast<std::size_t>(row_count), 1e-300);
  CHECK(test::mentions(refused(good, heavy), "weighted sums overflow"));
  CHECK(test::mentions(refused(good, light), "too small"));
}

// The axes along which rows differ most, on a GPU.

TEST_CASE("on a device, leading axes are orthonormal and leave little", "[gpu][kmeans]") {
  const double decay = GENERATE(0.5, 1.0);
  Context ctx = test::device_context();
  const Matrix<float> x = falling(20000, 128, decay, 5);
  const DeviceMatrix<float> there = test::copy_there(ctx, x);
  const Rows rows(ctx.stream, there.cview());
  const DeviceMatrix<double> found = leading_space(ctx, rows, column_moments(ctx, rows), 48);
  REQUIRE(found.cols() == 48);
  const Matrix<double> q = test::copy_here(ctx.stream, found);
  CHECK(largest_error_of_orthonormality(q) < test::allowed::six_digits);
  CHECK(left_beside_best(q, decay) < 1.15);
}
