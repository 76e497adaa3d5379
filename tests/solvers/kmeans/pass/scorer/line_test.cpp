// Rows of one column, which are labelled by boundaries between centroids, beside passes that score them.
#include "tallskinny/solvers/kmeans/pass/scorer/line.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/row_bounds.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/host_rows.hpp"

using namespace ts;
using namespace ts::test;

namespace {

struct Passed {
  std::vector<std::int32_t> labels;
  ClusterSums sums;
  AssignStats stats;
};

/// A pass from labels of which some are right, some are wrong and some are none. @param scored by scores, for which
/// bounds are asked, though none hold yet
Passed pass_over(const Context& ctx, const Rows& rows, HostView<const double> c, std::span<const double> weights,
                 bool scored, Scores scores = Scores::float32) {
  const auto moments = column_moments(ctx, rows);
  const FixedPoint unit(moments.max_abs, 2, rows.rows());
  Passed p{std::vector<std::int32_t>(static_cast<std::size_t>(rows.rows())), ClusterSums(c.rows(), 1), {}};
  for (std::size_t i = 0; i < p.labels.size(); ++i)
    p.labels[i] = static_cast<std::int32_t>(i * 31 % static_cast<std::size_t>(c.rows())) - (i % 3 == 0 ? 0 : 1);
  add_rows(ctx, rows, moments, p.labels, weights, unit, p.sums);
  RowBounds bounds(rows.rows());
  AssignArguments of{rows, moments, c, scores};
  of.labels = std::span(p.labels), of.weights = weights, of.unit = &unit, of.sums = &p.sums;
  if (scored) of.bounds = {&bounds, 0};
  p.stats = assign(ctx, of);
  return p;
}

void check_line(const Rows& rows, HostView<const double> c, const std::string& name) {
  INFO(name << ": " << rows.rows() << " rows, " << c.rows() << " centroids");
  std::vector<double> weights(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = i % 5 == 0 ? 0.0 : 0.5 + 0.25 * static_cast<double>(i % 4);
  for (const bool weighted : {false, true}) {
    const auto w = weighted ? std::span<const double>(weights) : std::span<const double>();
    const Passed expected = pass_over({.threads = 1}, rows, c, w, true, Scores::float64);
    for (const int threads : {1, 3}) {
      const Passed found = pass_over({.threads = threads}, rows, c, w, false);
      REQUIRE(found.labels == expected.labels);
      CHECK(found.stats.changed == expected.stats.changed);
      CHECK(found.sums.words() == expected.sums.words());
    }
  }
}

/// Centroids between the rows, on rows, and copies of others.
Matrix<double> centroids_among(const Rows& rows, index_t k) {
  Matrix<double> c(k, 1);
  for (index_t m = 0; m < k; ++m) {
    double one = 0, other = 0;
    rows.load(m * 37 % rows.rows(), &one), rows.load((m * 53 + 11) % rows.rows(), &other);
    c(m, 0) = m % 3 == 0 ? one : one / 2 + other / 2;
    if (m % 7 == 6) c(m, 0) = c(m - 3, 0);
  }
  return c;
}

template <class T, class Value>
void check_values(const std::string& name, index_t n, const Value& value) {
  Matrix<T> x(n, 1);
  for (index_t i = 0; i < n; ++i) x(i, 0) = narrowed<T>(value(i));
  const Rows rows(x.cview());
  for (const index_t k : {index_t{1}, index_t{2}, index_t{3}, index_t{40}, n})
    check_line(rows, centroids_among(rows, k).cview(), name);
}

double spread(index_t i) { return number(i, 0) + 0x1p-9 * number(i, 1); }

}  // namespace

TEMPLATE_TEST_CASE("one column: labels and sums are those of scores, bit for bit", "[assign]", double, float, float16) {
  check_values<TestType>("spread", 700, spread);
  check_values<TestType>("integers, of which many lie halfway", 700, [](index_t i) { return i * 7 % 31; });
  check_values<TestType>("the same", 90, [](index_t) { return 0.3; });
  check_values<TestType>("clusters", 700, [](index_t i) { return i % 5 + 1e-3 * number(i, 2); });
  check_values<TestType>("far from the origin", 500, [](index_t i) { return 1000 + number(i, 3); });
  check_values<TestType>("one far away", 300, [](index_t i) { return i == 17 ? 6e4 : number(i, 4); });
}

TEST_CASE("one column at the ends of the range", "[assign]") {
  check_values<float>("large", 300, [](index_t i) { return 1e38 * spread(i); });
  check_values<float>("small", 300, [](index_t i) { return 1e-42 * spread(i); });
  check_values<double>("large", 300, [](index_t i) { return 1.7e308 * spread(i) / 1.1; });
  check_values<double>("small", 300, [](index_t i) { return 1e-310 * spread(i); });
  check_values<double>("of all orders", 400,
                       [](index_t i) { return std::ldexp(spread(i), static_cast<int>(i % 90) - 60); });
}

TEST_CASE("one column whose neighbours are numbers side by side", "[assign]") {
  const index_t n = 400;
  Matrix<double> x(n, 1);
  double next = 1e5;
  for (index_t i = 0; i < n; ++i) x(i, 0) = next = std::nextafter(next, 1e6);
  const Rows rows(x.cview());
  for (const index_t k : {index_t{2}, index_t{50}, n})
    check_line(rows, centroids_among(rows, k).cview(), "side by side");
}

TEST_CASE("one column: what is too far from two centroids to tell them apart gets the lowest number", "[assign]") {
  Matrix<double> x(4, 1), c(3, 1);
  x(0, 0) = 1, x(1, 0) = -1, x(2, 0) = 0x1p-140, x(3, 0) = 0x1p-139;
  c(0, 0) = 0x1p-139, c(1, 0) = 0x1p-140, c(2, 0) = 7;
  check_line(Rows(x.cview()), c.cview(), "a tie by distance");
  CHECK(run({}, Rows(x.cview()), c.cview()).labels == std::vector<std::int32_t>{0, 0, 1, 0});
}

TEST_CASE("one column: numbers so close that squares of their differences vanish are equal", "[assign]") {
  Matrix<double> x(3, 1), c(3, 1);
  x(0, 0) = 0x3p-600, x(1, 0) = -0x1p-600, x(2, 0) = 1;
  c(0, 0) = 0, c(1, 0) = 0x4p-600, c(2, 0) = 1;
  check_line(Rows(x.cview()), c.cview(), "vanishing");
  CHECK(run({}, Rows(x.cview()), c.cview()).labels == std::vector<std::int32_t>{0, 0, 2});
}

TEST_CASE("one column in any layout, and with scales", "[assign]") {
  const index_t n = 600, k = 33;
  auto wide = points<float>(n, 5);
  for (index_t i = 0; i < n; ++i) wide(i, 3) = static_cast<float>(spread(i));
  const Rows rows(wide.cview().block(0, 3, n, 1));
  const auto c = centroids_among(rows, k);
  check_line(rows, c.cview(), "one column of five");
  std::vector<double> scale(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) scale[static_cast<std::size_t>(i)] = 1 / (1.5 + number(i, 9));
  check_line(rows.scaled(std::span<const double>(scale)), c.cview(), "scaled");
}

TEST_CASE("one column: most labels of rows between centroids are certain", "[assign]") {
  const index_t n = 5000, k = 500;
  Matrix<float> x(n, 1);
  for (index_t i = 0; i < n; ++i) x(i, 0) = static_cast<float>(spread(i));
  Matrix<double> c(k, 1);
  for (index_t m = 0; m < k; ++m) c(m, 0) = 2 * static_cast<double>(m) / k - 1 + 1e-7;
  const auto moments = column_moments({}, Rows(x.cview()));
  const assign_detail::Line line(c.cview(), moments);
  REQUIRE(line.values().size() == static_cast<std::size_t>(k));
  for (index_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(x(i, 0));
    const std::int32_t label = line.find(value);
    REQUIRE(label == line.decide(value));
    CHECK(line.stretch_of(label).has(value));
    CHECK_FALSE(line.stretch_of(label == 0 ? 1 : label - 1).has(value));
  }
  CHECK_FALSE(line.stretch_of(-1).has(0));
  CHECK_FALSE(line.stretch_of(static_cast<std::int32_t>(k)).has(0));
}
