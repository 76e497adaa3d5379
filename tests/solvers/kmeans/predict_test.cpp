// Labels for rows that pass by once.
#include "tallskinny/tests/solvers/kmeans/runs.hpp"
#include "tallskinny/tests/support/message_of.hpp"

using namespace ts;
using namespace ts::solvers;

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
      CHECK(refused(with(value), {}, metric).find("row 9000, column 3") != std::string::npos);
  CHECK(refused(with(1e200)).find("beyond 2^500") != std::string::npos);
  CHECK(refused(with(1e308)).find("beyond 2^500") != std::string::npos);
  Matrix<double> small(row_count, width);
  for (index_t e = 0; e < row_count * width; ++e) small.data()[e] = std::ldexp(good.data()[e], -700);
  CHECK(refused(small).find("differ by less than 2^-480") != std::string::npos);
  Matrix<double> equal(row_count, width);
  std::fill_n(equal.data(), row_count * width, 3.5);
  CHECK(refused(equal).empty());
  const std::vector<double> heavy(static_cast<std::size_t>(row_count), 1e308),
      light(static_cast<std::size_t>(row_count), 1e-300);
  CHECK(refused(good, heavy).find("weighted sums overflow") != std::string::npos);
  CHECK(refused(good, light).find("too small") != std::string::npos);
}
