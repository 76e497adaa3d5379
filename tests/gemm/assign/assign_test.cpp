#include "tallskinny/gemm/assign/assign.hpp"

#include "tallskinny/tests/gemm/assign/host_rows.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::test;

TEMPLATE_TEST_CASE("labels and sums are those of the reference, bit for bit", "[assign]", double, float, float16,
                   bfloat16) {
  check_against_reference<TestType>(1, 1, 1);
  check_against_reference<TestType>(5, 3, 2);
  check_against_reference<TestType>(97, 1, 7);
  check_against_reference<TestType>(200, 17, 23);
  check_against_reference<TestType>(49, 300, 5);
  check_against_reference<TestType>(60, 40, 60);
}

TEST_CASE("far from the origin, and at the ends of the range", "[assign]") {
  check_against_reference<float>(150, 8, 8, 1e5);
  check_against_reference<double>(150, 8, 8, 1e8);
  check_against_reference<double>(100, 5, 6, 0, 1e300);
  check_against_reference<double>(100, 5, 6, 0, 1e-300);
  check_against_reference<double>(100, 5, 6, 0, 1e-310);
  check_against_reference<float>(100, 5, 6, 0, 1e38);
  check_against_reference<float>(100, 5, 6, 0, 1e-42);
  check_against_reference<float16>(100, 64, 6, 0, 60000);  // ||x||^2 is far above 65504
}

TEST_CASE("any layout, leading dimension and sub-view of rows", "[assign]") {
  const index_t n = 130, d = 11, k = 9;
  const auto x = points<float>(n, d);
  const auto c = centres(k, d);
  const Outcome expected = run({}, Rows(x.cview()), c.cview());
  auto wide = points<float>(n + 4, d + 5);
  Matrix<float, Space::host, Layout::col_major> columns(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) wide(i + 3, j + 2) = columns(i, j) = x(i, j);
  CHECK(run({}, Rows(wide.cview().block(3, 2, n, d)), c.cview()).labels == expected.labels);
  const Outcome by_columns = run({}, Rows(columns.cview()), c.cview());
  CHECK(by_columns.labels == expected.labels);
  CHECK(by_columns.means == expected.means);
}

TEST_CASE("sparse rows get the labels and sums of the same rows stored densely", "[assign]") {
  const index_t n = 300, d = 40, k = 21;
  CsrMatrix<double> sparse;
  sparse.rows = n, sparse.cols = d;
  auto dense = Matrix<double>::zeros(n, d);
  for (index_t i = 0; i < n; ++i) {
    if (i % 17 != 0)  // some rows are empty
      for (index_t j = i % 3; j < d; j += 1 + (i * j) % 7) {
        dense(i, j) = number(i, j);
        sparse.indices.push_back(static_cast<std::int32_t>(j));
        sparse.values.push_back(dense(i, j));
      }
    sparse.pointers.push_back(static_cast<index_t>(sparse.values.size()));
  }
  const auto c = centres(k, d, 0, 0.3);
  const Outcome expected = run(reference(), Rows(dense.cview()), c.cview());
  for_each_way([&](const Context& ctx, Scores scores) {
    CHECK(run(ctx, Rows(sparse.view()), c.cview(), scores).labels == expected.labels);
  });
  const Outcome one = run(reference(), Rows(sparse.view()), c.cview());
  const Outcome two = run({}, Rows(sparse.view()), c.cview());
  CHECK(one.means == two.means);

  const auto a = column_moments({}, Rows(dense.cview())), b = column_moments({}, Rows(sparse.view()));
  for (std::size_t j = 0; j < static_cast<std::size_t>(d); ++j) {
    CHECK(a.mean[j] == Approx(b.mean[j]).margin(allowed::last_place));
    CHECK(a.variance[j] == Approx(b.variance[j]).margin(allowed::last_place));
  }
  std::vector<double> da(static_cast<std::size_t>(n)), db(da);
  own_squared_distances({}, Rows(dense.cview()), c.cview(), expected.labels, da);
  own_squared_distances({}, Rows(sparse.view()), c.cview(), expected.labels, db);
  for (std::size_t i = 0; i < da.size(); ++i) CHECK(da[i] == Approx(db[i]).epsilon(allowed::long_sum));
}

TEST_CASE("equal distances go to the lowest number", "[assign]") {
  Matrix<double> x(3, 1), c(4, 1);
  x(0, 0) = 0, x(1, 0) = 1, x(2, 0) = -1;
  c(0, 0) = 2, c(1, 0) = 1, c(2, 0) = -1, c(3, 0) = 1;  // the last is a copy
  for_each_way([&](const Context& ctx, Scores scores) {
    CHECK(run(ctx, Rows(x.cview()), c.cview(), scores).labels == std::vector<std::int32_t>{1, 1, 2});
  });
  Matrix<double> zero = Matrix<double>::zeros(70, 3), same = Matrix<double>::zeros(40, 3);
  same(1, 0) = -0.0;
  CHECK(run({}, Rows(zero.cview()), same.cview()).labels == std::vector<std::int32_t>(70, 0));
}

TEST_CASE("centroids closer together than float32 can tell are told apart", "[assign]") {
  // Two centroids 1e-9 apart, points between them and one far away: every other float32 score is a tie.
  const index_t n = 500;
  Matrix<double> x(n, 2), c(2, 2);
  c(0, 0) = 1, c(1, 0) = 1 + 1e-9, c(0, 1) = c(1, 1) = 0;
  std::vector<std::int32_t> expected;
  for (index_t i = 0; i < n; ++i) {
    const bool second = (i * 7) % 3 == 0;
    x(i, 0) = second ? 1 + 0.8e-9 : 1 + 0.2e-9;
    x(i, 1) = 1e-9 * number(i, 1);
    expected.push_back(second ? 1 : 0);
  }
  x(n - 1, 0) = -1000, expected.back() = 0;
  const Outcome o = run({}, Rows(x.cview()), c.cview());
  CHECK(o.labels == expected);
  CHECK(o.stats.rescored == n);
  CHECK(count_misassigned({}, Rows(x.cview()), c.cview(), o.labels) == 0);
  expected[3] = 1 - expected[3];
  CHECK(count_misassigned({}, Rows(x.cview()), c.cview(), expected) == 1);
}

TEMPLATE_TEST_CASE("scores taken at their word leave labels of centroids that are hardly farther", "[assign]", double,
                   float, float16) {
  constexpr index_t n = 700, d = 20, k = 30;
  const auto x = points<TestType>(n, d);
  const auto c = centres(k, d);
  const Context ctx;
  const auto moments = column_moments(ctx, Rows(x.cview()));
  std::vector<std::int32_t> labels(n, -1);
  const AssignStats stats =
      assign(ctx, {Rows(x.cview()), moments, c.cview(), Scores::fast, labels, {}, nullptr, nullptr});
  CHECK(stats.rescored == 0);
  CHECK(stats.changed == n);
  const Outcome right = run(ctx, Rows(x.cview()), c.cview());
  std::vector<double> own(n), least(n);
  own_squared_distances(ctx, Rows(x.cview()), c.cview(), PerRow<const std::int32_t>(labels), own);
  own_squared_distances(ctx, Rows(x.cview()), c.cview(), PerRow<const std::int32_t>(right.labels), least);
  for (std::size_t i = 0; i < own.size(); ++i) CHECK(own[i] <= least[i] + allowed::four_digits);
}

TEST_CASE("expecting labels to stay changes nothing but the time", "[assign]") {
  constexpr index_t n = 300, d = 20, k = 30;
  const auto x = points<float>(n, d);
  const auto c = centres(k, d);
  const Context ctx;
  const auto moments = column_moments(ctx, Rows(x.cview()));
  const FixedPoint unit(moments.reach, 1, n);
  const Outcome right = run(ctx, Rows(x.cview()), c.cview());
  for (const index_t wrong : {n, index_t{7}, index_t{1}}) {
    std::vector<std::int32_t> labels = right.labels;
    for (index_t i = 0; i < n; i += n / wrong) labels[static_cast<std::size_t>(i)] += i % 2 == 0 ? 1 : -1;
    for (std::int32_t& label : labels) label %= k;
    ClusterSums sums(k, d);
    add_rows(ctx, Rows(x.cview()), moments, labels, {}, unit, sums);
    auto of_settled = sums;
    auto settled = labels;
    const AssignStats
        stats = assign(ctx, {Rows(x.cview()), moments, c.cview(), Scores::float32, labels, {}, &unit, &sums}),
        settled_stats = assign(
            ctx, {Rows(x.cview()), moments, c.cview(), Scores::float32, settled, {}, &unit, &of_settled, {}, true});
    CHECK(labels == right.labels);
    CHECK(settled == right.labels);
    CHECK(settled_stats.changed == stats.changed);
    CHECK(settled_stats.rescored == stats.rescored);
    for (index_t m = 0; m < k; ++m) {
      CHECK(of_settled.count(m) == sums.count(m));
      for (index_t j = 0; j < d && !sums.weightless(m); ++j)
        CHECK(of_settled.mean(unit, m, j) == sums.mean(unit, m, j));
    }
  }
}

TEST_CASE("shapes that do not fit are refused", "[assign]") {
  const auto x = points<float>(4, 2);
  const auto c = centres(2, 3), good = centres(2, 2);
  const Rows rows(x.cview());
  const auto moments = column_moments({}, rows);
  std::vector<std::int32_t> labels(4), few(3);
  const std::vector<double> weights(3);
  const auto call = [&](HostView<const double> centroids, std::span<std::int32_t> l, std::span<const double> w) {
    assign({}, {rows, moments, centroids, Scores::float32, l, w, nullptr, nullptr});
  };
  CHECK_THROWS_AS(call(c.cview(), labels, {}), Error);
  CHECK_THROWS_AS(call(good.cview(), few, {}), Error);
  CHECK_THROWS_AS(call(good.cview(), labels, weights), Error);
  CHECK_THROWS_AS(call(HostView<const double>(nullptr, 0, 2), labels, {}), Error);
  CHECK_NOTHROW(call(good.cview(), labels, {}));
}

TEST_CASE("rows without columns are all equal", "[assign]") {
  const Matrix<float> x(100, 0);
  const Matrix<double> c(3, 0);
  CHECK(run({}, Rows(x.cview()), c.cview()).labels == std::vector<std::int32_t>(100, 0));
}

TEST_CASE("no rows are no work", "[assign]") {
  const Matrix<float> x(0, 3);
  const auto c = centres(2, 3);
  const Outcome o = run({}, Rows(x.cview()), c.cview());
  CHECK(o.labels.empty());
  CHECK(inertia({}, Rows(x.cview()), c.cview(), o.labels, {}) == 0);
}

TEST_CASE("a row of weight 0 adds nothing to the inertia, however far it is", "[assign]") {
  auto x = Matrix<double>::zeros(2, 1);
  x(0, 0) = 1, x(1, 0) = 1e300;
  const auto c = Matrix<double>::zeros(1, 1);
  const std::vector<std::int32_t> labels = {0, 0};
  const std::vector<double> weights = {2, 0};
  CHECK(inertia({}, Rows(x.cview()), c.cview(), labels, weights) == 2);
}
