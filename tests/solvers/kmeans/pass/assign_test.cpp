#include "tallskinny/solvers/kmeans/pass/scorer/grouped_scores.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/host_rows.hpp"

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
  CHECK(by_columns.sums == expected.sums);
}

TEST_CASE("sparse rows get the labels and sums of the same rows stored densely", "[assign]") {
  const index_t n = 300, d = 40, k = 21;
  auto dense = Matrix<double>::zeros(n, d);
  auto sparse = csr_by_rows<double>(n, d, [&](index_t i, auto add) {
    if (i % 17 != 0)  // some rows are empty
      for (index_t j = i % 3; j < d; j += 1 + (i * j) % 7) {
        dense(i, j) = number(i, j);
        add(j, dense(i, j));
      }
  });
  const auto c = centres(k, d, 0, 0.3);
  const Outcome expected = run(reference(), Rows(dense.cview()), c.cview());
  for_each_way([&](const Context& ctx, Scores scores) {
    CHECK(run(ctx, Rows(sparse.view()), c.cview(), scores).labels == expected.labels);
  });
  const Outcome one = run(reference(), Rows(sparse.view()), c.cview());
  const Outcome two = run({}, Rows(sparse.view()), c.cview());
  CHECK(one.sums == two.sums);

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
  const FixedPoint unit(moments.max_abs, 1, n);
  const Outcome right = run(ctx, Rows(x.cview()), c.cview());
  for (const index_t wrong : {n, index_t{7}, index_t{1}}) {
    std::vector<std::int32_t> labels = right.labels;
    for (index_t i = 0; i < n; i += n / wrong) labels[static_cast<std::size_t>(i)] += i % 2 == 0 ? 1 : -1;
    for (std::int32_t& label : labels) label %= k;
    ClusterSums sums(k, d);
    add_rows(ctx, Rows(x.cview()), moments, labels, {}, unit, sums);
    auto of_stable = sums;
    auto stable = labels;
    const AssignStats
        stats = assign(ctx, {Rows(x.cview()), moments, c.cview(), Scores::float32, labels, {}, &unit, &sums}),
        stable_stats = assign(
            ctx, {Rows(x.cview()), moments, c.cview(), Scores::float32, stable, {}, &unit, &of_stable, {}, true});
    CHECK(labels == right.labels);
    CHECK(stable == right.labels);
    CHECK(stable_stats.changed == stats.changed);
    CHECK(stable_stats.rescored == stats.rescored);
    for (index_t m = 0; m < k; ++m) {
      CHECK(of_stable.count(m) == sums.count(m));
      for (index_t j = 0; j < d && !sums.weightless(m); ++j) CHECK(of_stable.mean(unit, m, j) == sums.mean(unit, m, j));
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

TEST_CASE("scores of integers: blocks of columns, odd ones, and rows without room", "[assign]") {
  check_against_reference<float>(100, 8, 8);
  check_against_reference<float>(100, 33, 9, 0.25);
  check_against_reference<float>(97, 255, 11);
  check_against_reference<float>(60, 257, 16);
  check_against_reference<double>(55, 1030, 10);
  check_against_reference<float>(70, 31, 40, 7);
  check_against_reference<double>(100, 12, 9, 0, 1e300);
  check_against_reference<double>(100, 12, 9, 0, 1e-300);
  check_against_reference<float>(100, 12, 9, 0, 1e38);
  check_against_reference<float>(100, 12, 9, 0, 1e-42);
  check_against_reference<float>(150, 12, 9, 1e5);
  // Some rows are far longer than all others, and one column than the rest.
  auto x = points<float>(400, 20);
  for (index_t i = 0; i < 400; ++i) {
    x(i, 3) *= 1000;
    if (i % 9 == 4)
      for (index_t j = 0; j < 20; ++j) x(i, j) *= 50;
  }
  Matrix<double> c(12, 20);
  for (index_t m = 0; m < 12; ++m)
    for (index_t j = 0; j < 20; ++j) c(m, j) = static_cast<double>(x(29 * m, j)) * (m == 5 ? 1e-3 : 1);
  CHECK(run({}, Rows(x.cview()), c.cview(), Scores::int16).labels ==
        run(reference(), Rows(x.cview()), c.cview()).labels);
}

TEST_CASE("scores of integers leave rows near two centroids to be decided again, and few others", "[assign]") {
  // Rows on both sides of the bisector of two centroids, nearer to it at every step.
  constexpr index_t n = 1200, d = 30, k = 10;
  const auto c = centres(k, d);
  auto x = points<double>(n, d);
  for (index_t i = 0; i < n; ++i) {
    const index_t a = i % k, b = (i * 7 + 3) % k == a ? (a + 1) % k : (i * 7 + 3) % k;
    const double share = 0.5 + (i % 2 == 0 ? 1 : -1) * std::ldexp(0.3, -static_cast<int>(i % 40));
    for (index_t j = 0; j < d; ++j) x(i, j) = c(a, j) + share * (c(b, j) - c(a, j));
  }
  for (const Simd simd : instructions()) {
    Context ctx{.simd = simd};
    const Outcome found = run(ctx, Rows(x.cview()), c.cview(), Scores::int16);
    CHECK(found.labels == run(reference(), Rows(x.cview()), c.cview()).labels);
    CHECK(found.stats.rescored < 3 * n / 4);
    CHECK(run(ctx, Rows(points<float>(n, d).cview()), c.cview(), Scores::int16).stats.rescored < n / 20);
  }
}
