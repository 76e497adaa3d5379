// assign() for rows on a GPU: the same bits as for rows in host memory.
#include <algorithm>
#include <numeric>

#include "tallskinny/tests/solvers/kmeans/pass/device_rows.hpp"

using namespace ts;
using namespace ts::test;

namespace {

struct Outcome {
  std::vector<std::int32_t> labels, next;
  std::vector<double> sums, next_sums, distances;
  std::vector<double> moments;
  AssignStats stats, next_stats;
  double inertia = 0;
  index_t wrong = 0;
};

/// A first pass, a second one from its labels with other centroids, and what else there is.
/// The farthest rows are those of all distances in order, the lowest number among equals.
void check_farthest(const Context& ctx, const Rows& x, const Matrix<double>& centroids,
                    const PerRowArray<std::int32_t>& labels, const Outcome& o) {
  std::vector<index_t> order(o.distances.size());
  std::iota(order.begin(), order.end(), 0);
  const auto distance = [&](index_t i) { return o.distances[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return distance(a) > distance(b); });
  for (const index_t count : {index_t{0}, index_t{1}, index_t{70}, x.rows(), x.rows() + 5}) {
    const auto far = farthest_rows(ctx, x, centroids.cview(), labels.view(), count);
    REQUIRE(std::ssize(far) == std::min(count, x.rows()));
    bool right = true;
    for (std::size_t q = 0; q < far.size(); ++q)
      right = right && far[q].row == order[q] && far[q].squared_distance == distance(order[q]) &&
              far[q].label == o.labels[static_cast<std::size_t>(order[q])];
    CHECK(right);
  }
}

Outcome run(const Context& ctx, const Rows& x, const Case& c, const Matrix<double>& centroids,
            const std::vector<double>& weights) {
  Outcome o;
  const auto moments = column_moments(ctx, x);
  for (const auto* part : {&moments.mean, &moments.variance, &moments.shift, &moments.max_abs})
    o.moments.insert(o.moments.end(), part->begin(), part->end());
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const FixedPoint unit(moments.max_abs, heaviest, x.rows());
  ClusterSums sums(c.k, c.d);
  PerRowArray<std::int32_t> labels(ctx, x.space(), std::vector<std::int32_t>(static_cast<std::size_t>(c.n), -1));
  const PerRowArray<double> weigh(ctx, x.space(), weights);
  o.stats = assign(ctx, {x, moments, centroids.cview(), Scores::float32, labels.view(), weigh.view(), &unit, &sums});
  o.labels = labels.to_host();
  o.sums = numbers_of(sums, unit);
  if (!c.scaled) o.wrong = count_misassigned(ctx, x, centroids.cview(), labels.view());
  o.inertia = inertia(ctx, x, centroids.cview(), labels.view(), weigh.view());
  o.distances.resize(static_cast<std::size_t>(c.n));
  own_squared_distances(ctx, x, centroids.cview(), labels.view(), o.distances);
  check_farthest(ctx, x, centroids, labels, o);
  auto moved = Matrix<double>::copy_of(centroids.cview());
  for (index_t m = 0; m < c.k; ++m) moved(m, 0) += c.factor * (m % 3 == 0 ? 0.01 : -0.002);
  o.next_stats = assign(ctx, {x, moments, moved.cview(), Scores::float32, labels.view(), weigh.view(), &unit, &sums});
  o.next = labels.to_host();
  o.next_sums = numbers_of(sums, unit);
  return o;
}

/// Scores taken at their word: how much farther, at most, a label's centroid is than the nearest one, in
/// shares of (||x - shift|| + ||c - shift||)^2, of which low precision loses some; and whether sums belong to
/// the labels.
template <class T>
void check_fast(const Case& c) {
  INFO("n " << c.n << " d " << c.d << " k " << c.k << " type " << static_cast<int>(dtype_of<T>));
  const Matrix<double> centroids = centres(c);
  Matrix<T> x(c.n, c.d);
  for (index_t i = 0; i < c.n; ++i)
    for (index_t j = 0; j < c.d; ++j) x(i, j) = narrowed<T>(c.offset + c.factor * number(i, j, c.levels));
  Context ctx = test::device_context();
  const auto there = test::copy_there(ctx, x);
  const Rows rows(ctx.stream, there.cview());
  const auto moments = column_moments(ctx, rows);
  const FixedPoint unit(moments.max_abs, 1, c.n);
  const auto pass = [&](Scores scores, bool stable, PerRow<std::int32_t> labels, ClusterSums& sums) {
    return assign(ctx, {rows, moments, centroids.cview(), scores, labels, {}, &unit, &sums, {}, stable});
  };
  const auto nowhere = [&] {
    return PerRowArray<std::int32_t>(ctx, Space::device, std::vector<std::int32_t>(static_cast<std::size_t>(c.n), -1));
  };
  ClusterSums sums(c.k, c.d), exact_sums(c.k, c.d), again(c.k, c.d);
  auto labels = nowhere(), exact = nowhere();
  const AssignStats stats = pass(Scores::fast, false, labels.view(), sums);
  CHECK(stats.rescored == 0);
  CHECK(stats.changed == c.n);
  const std::vector<std::int32_t> found = labels.to_host();
  CHECK(pass(Scores::fast, true, labels.view(), sums).changed == 0);
  CHECK(labels.to_host() == found);
  (void)pass(Scores::float32, false, exact.view(), exact_sums);
  add_rows(ctx, rows, moments, labels.view(), {}, unit, again);
  CHECK(numbers_of(sums, unit) == numbers_of(again, unit));
  std::vector<double> own(static_cast<std::size_t>(c.n)), least(own.size());
  own_squared_distances(ctx, rows, centroids.cview(), labels.view(), own);
  own_squared_distances(ctx, rows, centroids.cview(), exact.view(), least);
  double share = 0, norms = 0;
  for (const double r : moments.max_abs) norms += 4 * r * r;
  for (std::size_t i = 0; i < own.size(); ++i) share = std::max(share, (own[i] - least[i]) / norms);
  CHECK(share < 0x1p-9);
}

template <class T>
void check(const Case& c) {
  INFO(text_of<T>(c));
  const auto [host, device] = host_and_device<T>(c, run);
  if (c.n > 0) CHECK(device.moments == host.moments);  // of no rows they are NaN
  CHECK(device.labels == host.labels);
  CHECK(device.sums == host.sums);
  CHECK(device.stats.changed == host.stats.changed);
  CHECK(device.wrong == 0);
  CHECK(device.inertia == host.inertia);
  CHECK(device.distances == host.distances);
  CHECK(device.next == host.next);
  CHECK(device.next_sums == host.next_sums);
  CHECK(device.next_stats.changed == host.next_stats.changed);
}

}  // namespace

TEMPLATE_TEST_CASE("on a device, one column in the order of centroids", "[assign][sanitize][gpu]", double, float,
                   float16) {
  check<TestType>({5000, 1, 129});
  check<TestType>({5000, 1, 2000, 0, 1, 64});  // ties and copies
  check<TestType>({3001, 1, 300, 0.25, 1, 512, true, 3, false, true});
  check<TestType>({3001, 1, 300, 0, 1, 512, false, 0, true, true, true});
  check<TestType>({900, 1, 900, 100, 1e-3, 512, false, 0, false, false, false, true});
}

TEST_CASE("on a device, one column at the ends of the range", "[assign][sanitize][gpu]") {
  check<double>({3000, 1, 400, 0, 1e300, 1 << 20});
  check<double>({3000, 1, 400, 0, 1e-310, 1 << 20});
  check<double>({3000, 1, 400, 1e9, 1e-6, 1 << 20});
  check<double>({300000, 1, 50000, 0, 1, 1 << 20});
}

TEMPLATE_TEST_CASE("on a device, labels and sums are those of the host, bit for bit", "[assign][sanitize][gpu]", double,
                   float, float16, bfloat16) {
  check<TestType>({0, 3, 2});
  check<TestType>({1, 1, 1});
  check<TestType>({31, 4, 16});
  check<TestType>({200, 17, 23});
  check<TestType>({97, 16, 64, 0, 1, 3});
  check<TestType>({515, 64, 33, 0, 1, 128, true});
  check<TestType>({300, 130, 9});  // too many columns for registers
  check<TestType>({129, 128, 20, 0, 1, 2, false, 0, false, true});
  check<TestType>({77, 32, 300});
}

TEMPLATE_TEST_CASE("rows on a device may have gaps, lie by columns, weigh and be scaled", "[assign][gpu]", double,
                   float, float16, bfloat16) {
  check<TestType>({300, 8, 10, 0, 1, 128, false, 1});
  check<TestType>({300, 8, 10, 0, 1, 128, false, 8, false, true});
  check<TestType>({300, 33, 10, 0, 1, 16, true, 5, true, true});
  check<TestType>({300, 12, 5, 0, 1, 128, false, 0, true});
  check<TestType>({300, 12, 5, 0, 1, 128, false, 0, false, true, true});
}

TEST_CASE("on a device, far from the origin and at the ends of the range", "[assign][gpu]") {
  check<float>({150, 8, 8, 1e5});
  check<float>({5000, 16, 8, 1000, 1e-2, 1 << 20});
  check<double>({150, 8, 8, 1e8});
  check<double>({100, 5, 6, 0, 1e300});
  check<double>({100, 5, 6, 0, 1e-300});
  check<double>({100, 5, 6, 0, 1e-310});
  check<float>({100, 5, 6, 0, 1e38});
  check<float>({100, 5, 6, 0, 1e-42});
  check<float16>({100, 64, 6, 0, 60000});
}

TEST_CASE("on a device, many rows", "[assign][gpu]") {
  for (const auto& [d, k] : {std::pair{4, 16}, {8, 16}, {16, 16}, {16, 64}, {32, 32}, {64, 64}, {100, 100}}) {
    check<float>({(1 << 15) + 7, d, k, 0, 1, 1 << 20});
    check<float>({(1 << 15) + 7, d, k, 0.3, 1, 1 << 20, true});
    check<float16>({(1 << 15) + 7, d, k, 0, 1, 512});
    check<double>({(1 << 15) + 7, d, k, 0, 1, 1 << 20, true});
  }
  check<float>({(1 << 20) + 7, 3, 5, 0, 1, 1 << 20});
  check<float>({4099, 64, 1024, 0, 1, 1 << 20});
  check<float>({4099, 128, 1000, 0, 1, 1 << 20});
  check<float>({1000, 300, 40, 0, 1, 1 << 20});
}

TEMPLATE_TEST_CASE("on a device, rows are taken as they are a little off the origin", "[assign][sanitize][gpu]", float,
                   float16) {
  constexpr int levels = sizeof(TestType) == 2 ? 512 : 1 << 20;
  for (const auto& [d, k] : {std::pair{4, 16}, {8, 16}, {16, 16}, {20, 9}, {16, 64}, {64, 64}, {32, 256}, {128, 100}}) {
    check<TestType>({4001, d, k, 0.2, 1, levels});
    check<TestType>({333, d, k, -0.2, 2, 4});  // ties, and a last tile that is not full
  }
  check<TestType>({333, 20, 16, 0.2, 1, levels, true, 4, false, true});
}

TEST_CASE("on a device, wide rows and many centroids", "[assign][gpu]") {
  check<float>({1500, 784, 70, 0, 1, 1 << 20});
  check<float>({2000, 200, 300, 0.3, 1, 3});
  check<float>({900, 260, 300, 0.3, 1, 1 << 20, true, 3, false, true});
  check<float>({200, 900, 20, 0, 1, 2});  // too wide for two parts of each number
  check<float>({70, 1700, 5, 0, 1, 2});   // and for one
  check<float16>({1500, 131, 200, 0, 1, 2});
  check<bfloat16>({1000, 144, 129, 100, 1, 128, true});
  check<double>({700, 520, 130, 0, 1, 1 << 20});
  check<float>({3000, 40, 2000, 0, 1, 1 << 20});
}

TEST_CASE("on a device, wide rows are taken as they are", "[assign][sanitize][gpu]") {
  check<float16>({1500, 512, 300, 0.1, 1, 512});
  check<float16>({600, 136, 700, 0.2, 2, 4});
  check<float16>({333, 776, 130, -0.1, 0.5, 512, true});
  check<float16>({400, 520, 140, 0, 1, 512, false, 8, false, true, false, true});
}

TEST_CASE("on a device, candidates of rows too wide for two parts of each number", "[assign][sanitize][gpu]") {
  check<float16>({900, 1024, 260, 0, 1, 2});  // many ties
  check<float16>({700, 1000, 130, 0.05, 1, 3, false, 0, false, true, false, true});
  check<float>({500, 1024, 300, 0.3, 1, 2});
  // Rows that are as far from all centroids, so that there are more candidates than are kept; few such rows, or all.
  for (const index_t zeros : {40, 2000}) {
    const Case c{2000, 1024, 200, 0, 1, 2};
    const Matrix<double> centroids = centres(c);
    auto x = Matrix<float16>::zeros(c.n, c.d);
    for (index_t i = zeros; i < c.n; ++i)
      for (index_t j = 0; j < c.d; ++j) x(i, j) = narrowed<float16>(number(i, j, c.levels));
    Context ctx = test::device_context();
    const auto there = test::copy_there(ctx, x);
    const auto labels_of = [&](const Rows& rows) {
      const std::vector<std::int32_t> nowhere(static_cast<std::size_t>(c.n), -1);
      PerRowArray<std::int32_t> labels(ctx, rows.space(), nowhere);
      (void)assign(ctx, {rows, column_moments(ctx, rows), centroids.cview(), Scores::float32, labels.view()});
      return labels.to_host();
    };
    CHECK(labels_of(Rows(ctx.stream, there.cview())) == labels_of(Rows(x.cview())));
  }
}

TEST_CASE("an element that is not finite is named, wherever the rows are", "[assign][gpu]") {
  Context ctx = test::device_context();
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    auto x = Matrix<float>::zeros(10000, 5);
    x(9000, 3) = x(9000, 4) = x(9999, 0) = bad;
    const auto there = test::copy_there(ctx, x);
    const std::string message = test::message_of([&] { (void)column_moments(ctx, Rows(ctx.stream, there.cview())); });
    CHECK(mentions(message, "row 9000, column 3"));
  }
}

TEST_CASE("rows, labels and weights must lie in one memory", "[assign][gpu]") {
  Context ctx = test::device_context();
  DeviceMatrix<float> there(ctx.stream, 4, 2);
  const auto x = Matrix<float>::zeros(4, 2);
  copy(ctx.stream, there.view(), x.cview());
  const Rows rows(ctx.stream, there.cview());
  const auto moments = column_moments(ctx, rows);
  const auto centre = Matrix<double>::zeros(1, 2);
  std::vector<std::int32_t> labels(4, -1);
  CHECK_THROWS_AS(assign(ctx, {rows, moments, centre.cview(), Scores::float32, labels, {}, nullptr, nullptr}), Error);
}

TEMPLATE_TEST_CASE("on a device, scores may be taken at their word", "[assign][gpu]", double, float, float16) {
  check_fast<TestType>({300, 4, 16});
  check_fast<TestType>({1000, 16, 64, 0, 1, 1 << 20});
  check_fast<TestType>({500, 7, 33});
  check_fast<TestType>({777, 64, 64, 3});
  check_fast<TestType>({999, 32, 256, 0, 1, 1 << 20});
  check_fast<TestType>({600, 64, 1000});
  check_fast<TestType>({600, 128, 1000, 1, 1, 1 << 20});
  check_fast<TestType>({400, 300, 700});
  check_fast<TestType>({200, 1500, 40});
}
