// assign() for rows on a GPU: the same bits as for rows in host memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/tests/support/device.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

struct Case {
  index_t n, d, k;
  double offset = 0, factor = 1;
  int levels = 128;    ///< different values of an element: few of them make ties
  bool blobs = false;  ///< rows near centroids
  index_t gap = 0;     ///< elements between rows
  bool col_major = false, weighted = false, scaled = false;
  bool copies = false;  ///< every third centroid is a copy of the one before
  double outlying = 0;  ///< every fifth centroid is so much farther out
};

/// Numbers in [-1, 1) with so many levels.
double number(index_t i, index_t j, int levels) {
  const auto h = static_cast<std::uint64_t>(i * 7919 + j * 104729 + 17) * 0x9E3779B97F4A7C15u;
  return static_cast<double>((h >> 40) % static_cast<std::uint64_t>(levels)) * 2 / levels - 1;
}

Matrix<double> centres(const Case& c) {
  Matrix<double> out(c.k, c.d);
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d; ++j) out(m, j) = c.offset + c.factor * number(m + 1000003, j, c.levels) * 0.75;
  if (c.outlying > 0)
    for (index_t m = 4; m < c.k; m += 5)
      for (index_t j = 0; j < c.d; ++j) out(m, j) += c.outlying * c.factor;
  if (c.copies)
    for (index_t m = 2; m < c.k; m += 3)
      for (index_t j = 0; j < c.d; ++j) out(m, j) = out(m - 1, j);
  return out;
}

struct Outcome {
  std::vector<std::int32_t> labels, next;
  std::vector<double> sums, next_sums, distances;
  std::vector<double> moments;
  AssignStats stats, next_stats;
  double inertia = 0;
  index_t wrong = 0;
};

std::vector<double> numbers_of(const ClusterSums& sums, const FixedPoint& unit) {
  std::vector<double> out;
  for (index_t m = 0; m < sums.clusters(); ++m) {
    out.push_back(static_cast<double>(sums.count(m)));
    out.push_back(sums.weight(unit, m));
    if (!sums.weightless(m))
      for (index_t j = 0; j < sums.cols(); ++j) out.push_back(sums.mean(unit, m, j));
  }
  return out;
}

/// A first pass, a second one from its labels with other centroids, and what else there is.
Outcome run(const Context& ctx, const Rows& x, const Case& c, const Matrix<double>& centroids,
            const std::vector<double>& weights) {
  Outcome o;
  const auto moments = column_moments(ctx, x);
  for (const auto* part : {&moments.mean, &moments.variance, &moments.shift, &moments.reach})
    o.moments.insert(o.moments.end(), part->begin(), part->end());
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const FixedPoint unit(moments.reach, heaviest, x.rows());
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
  Context ctx;
  ctx.stream = test::device_stream();
  DeviceMatrix<T> there(ctx.stream, c.n, c.d);
  copy(ctx.stream, there.view(), x.cview());
  ctx.stream.synchronize();
  const Rows rows(ctx.stream, there.cview());
  const auto moments = column_moments(ctx, rows);
  const FixedPoint unit(moments.reach, 1, c.n);
  const auto pass = [&](Scores scores, bool settled, PerRow<std::int32_t> labels, ClusterSums& sums) {
    return assign(ctx, {rows, moments, centroids.cview(), scores, labels, {}, &unit, &sums, {}, settled});
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
  for (const double r : moments.reach) norms += 4 * r * r;
  for (std::size_t i = 0; i < own.size(); ++i) share = std::max(share, (own[i] - least[i]) / norms);
  CHECK(share < 0x1p-9);
}

/// Sums and changes after each of some passes.
struct Steps {
  std::vector<std::vector<double>> sums;
  std::vector<index_t> changed;
};

/// All rows come from nowhere, none moves, few do, and all; then the sums of the last labels from scratch,
/// some rows left out.
Steps moves(const Context& ctx, const Rows& x, const Case& c, const Matrix<double>& centroids,
            const std::vector<double>& weights) {
  const auto moments = column_moments(ctx, x);
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const FixedPoint unit(moments.reach, heaviest, x.rows());
  ClusterSums sums(c.k, c.d);
  PerRowArray<std::int32_t> labels(ctx, x.space(), std::vector<std::int32_t>(static_cast<std::size_t>(c.n), -1));
  const PerRowArray<double> weigh(ctx, x.space(), weights);
  Steps steps;
  const auto pass = [&](const Matrix<double>& now) {
    const AssignStats stats =
        assign(ctx, {x, moments, now.cview(), Scores::float32, labels.view(), weigh.view(), &unit, &sums});
    steps.changed.push_back(stats.changed);
    steps.sums.push_back(numbers_of(sums, unit));
  };
  auto few = Matrix<double>::copy_of(centroids.cview()), reversed = Matrix<double>(c.k, c.d);
  few(c.k / 2, 0) += 0.02 * c.factor;
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d; ++j) reversed(m, j) = centroids(c.k - 1 - m, j);
  pass(centroids), pass(centroids), pass(few), pass(reversed);
  auto some = labels.to_host();
  for (std::size_t i = 0; i < some.size(); i += 7) some[i] = -1;
  const PerRowArray<std::int32_t> given(ctx, x.space(), some);
  ClusterSums added(c.k, c.d);
  add_rows(ctx, x, moments, given.view(), weigh.view(), unit, added);
  steps.sums.push_back(numbers_of(added, unit));
  return steps;
}

/// Labels, sums and changes after passes from labels of several kinds.
struct Passes {
  std::vector<std::vector<std::int32_t>> labels;
  std::vector<std::vector<double>> sums;
  std::vector<index_t> changed;
};

/// The last centroid that equals each.
std::vector<std::int32_t> last_copies(const Matrix<double>& centroids) {
  const index_t k = centroids.rows(), d = centroids.cols();
  std::vector<std::int32_t> last;
  for (index_t m = 0; m < k; ++m) {
    index_t other = k - 1;
    while (!std::equal(centroids.data() + m * d, centroids.data() + (m + 1) * d, centroids.data() + other * d)) --other;
    last.push_back(static_cast<std::int32_t>(other));
  }
  return last;
}

/// Labels to begin with: right, a few wrong, each the last of equal centroids, all wrong, none.
std::vector<std::vector<std::int32_t>> beginnings(const std::vector<std::int32_t>& right,
                                                  const Matrix<double>& centroids) {
  const std::size_t n = right.size(), k = static_cast<std::size_t>(centroids.rows());
  std::vector<std::vector<std::int32_t>> begin(4, right);
  begin.emplace_back(n, -1);
  const auto last = last_copies(centroids);
  for (std::size_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::size_t>(right[i]);
    const auto other = static_cast<std::int32_t>((label + 1 + i % (k - 1)) % k);
    if (i % 37 == 5) begin[1][i] = i % 2 == 0 ? other : -1;
    begin[2][i] = last[label], begin[3][i] = other;
  }
  return begin;
}

/// Passes that expect few labels to change, however many do, with sums; each is followed by one that changes
/// nothing. On a device each is what a pass without expectations is from the same labels.
Passes settled_passes(const Context& ctx, const Rows& x, const Case& c, const Matrix<double>& centroids,
                      const std::vector<double>& weights) {
  constexpr index_t many_rows = 1 << 16;
  const auto moments = column_moments(ctx, x);
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const FixedPoint unit(moments.reach, heaviest, x.rows());
  const PerRowArray<double> weigh(ctx, x.space(), weights);
  Passes passes;
  const auto pass = [&](PerRowArray<std::int32_t>& labels, ClusterSums* sums, bool settled) {
    return assign(ctx, {x,
                        moments,
                        centroids.cview(),
                        Scores::float32,
                        labels.view(),
                        weigh.view(),
                        sums == nullptr ? nullptr : &unit,
                        sums,
                        {},
                        settled})
        .changed;
  };
  const std::vector<std::int32_t> nowhere(static_cast<std::size_t>(c.n), -1);
  PerRowArray<std::int32_t> first(ctx, x.space(), nowhere);
  (void)pass(first, nullptr, false);
  const std::vector<std::int32_t> right = first.to_host();
  auto all = beginnings(right, centroids);
  if (c.n > many_rows) all = {all[1]};
  for (const auto& begin : all) {
    INFO("beginning " << passes.changed.size());
    const auto from_begin = [&](bool settled) {
      PerRowArray<std::int32_t> labels(ctx, x.space(), begin);
      ClusterSums sums(c.k, c.d);
      add_rows(ctx, x, moments, labels.view(), weigh.view(), unit, sums);
      Passes one;
      one.changed = {pass(labels, &sums, settled)};
      one.labels = {labels.to_host()}, one.sums = {numbers_of(sums, unit)};
      CHECK(one.labels[0] == right);
      if (c.n <= many_rows) {
        CHECK(pass(labels, &sums, settled) == 0);
        CHECK(labels.to_host() == one.labels[0]);
        CHECK(numbers_of(sums, unit) == one.sums[0]);
      }
      return one;
    };
    const Passes settled = from_begin(true);
    if (x.on_device()) {
      const Passes unsettled = from_begin(false);
      CHECK(settled.changed == unsettled.changed);
      CHECK(settled.labels == unsettled.labels);
      CHECK(settled.sums == unsettled.sums);
    }
    passes.changed.push_back(settled.changed[0]);
    passes.labels.push_back(settled.labels[0]), passes.sums.push_back(settled.sums[0]);
  }
  // Without sums labels may be anything.
  const auto k = static_cast<std::int32_t>(c.k);
  const std::int32_t no_labels[] = {k, k + 1, -5, INT32_MIN, INT32_MAX, (k + 127) / 128 * 128};
  std::vector<std::int32_t> any = right;
  for (std::size_t i = 0; i < any.size(); i += 1 + i % 3) any[i] = no_labels[i % std::size(no_labels)];
  PerRowArray<std::int32_t> labels(ctx, x.space(), any);
  passes.changed.push_back(pass(labels, nullptr, true));
  passes.labels.push_back(labels.to_host());
  CHECK(passes.labels.back() == right);
  CHECK(pass(labels, nullptr, true) == 0);
  return passes;
}

/// What run(context, rows, case, centroids, weights) leaves of rows in host and in device memory.
template <class T, class Run>
auto host_and_device(const Case& c, const Run& run) {
  const auto centroids = centres(c);
  const index_t ld = (c.col_major ? c.n : c.d) + c.gap, lines = c.col_major ? c.d : c.n;
  Matrix<T> buffer(lines, ld);
  for (index_t i = 0; i < lines; ++i)
    for (index_t j = 0; j < ld; ++j) buffer(i, j) = narrowed<T>(std::nan(""));
  for (index_t i = 0; i < c.n; ++i)
    for (index_t j = 0; j < c.d; ++j) {
      const double own = c.blobs ? centroids(i % c.k, j) + 0.05 * c.factor * number(i, j, c.levels)
                                 : c.offset + c.factor * number(i, j, c.levels);
      (c.col_major ? buffer(j, i) : buffer(i, j)) = narrowed<T>(own);
    }
  std::vector<double> weights, scale;
  for (index_t i = 0; i < c.n; ++i) {
    if (c.weighted) weights.push_back(static_cast<double>(i % 5) / 4);
    if (c.scaled) scale.push_back(0.5 + static_cast<double>(i % 7) / 8);
  }
  Context ctx;
  ctx.stream = test::device_stream();
  DeviceMatrix<T> there(ctx.stream, lines, ld);
  copy(ctx.stream, there.view(), buffer.cview());
  ctx.stream.synchronize();
  const PerRowArray<double> scale_there(ctx, Space::device, scale);
  const auto both = [&](const Rows& here, const Rows& on_device) {
    auto of_host = run(ctx, here.scaled(scale), c, centroids, weights);
    return std::pair(std::move(of_host), run(ctx, on_device.scaled(scale_there.view()), c, centroids, weights));
  };
  if (c.col_major)
    return both(HostView<const T, Layout::col_major>(buffer.data(), c.n, c.d, ld),
                {ctx.stream, DeviceView<const T, Layout::col_major>(there.data(), c.n, c.d, ld)});
  return both(HostView<const T>(buffer.data(), c.n, c.d, ld),
              {ctx.stream, DeviceView<const T>(there.data(), c.n, c.d, ld)});
}

template <class T>
std::string text_of(const Case& c) {
  std::ostringstream text;
  text << "n " << c.n << " d " << c.d << " k " << c.k << " type " << static_cast<int>(dtype_of<T>) << " offset "
       << c.offset << " factor " << c.factor << " levels " << c.levels << " gap " << c.gap;
  return text.str();
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

template <class T>
void check_moves(const Case& c) {
  INFO(text_of<T>(c));
  const auto [host, device] = host_and_device<T>(c, moves);
  CHECK(device.changed == host.changed);
  for (std::size_t step = 0; step < host.sums.size(); ++step) {
    INFO("step " << step);
    CHECK(device.sums[step] == host.sums[step]);
  }
}

template <class T>
void check_settled(const Case& c) {
  INFO(text_of<T>(c) << " copies " << c.copies << " outlying " << c.outlying);
  const auto [host, device] = host_and_device<T>(c, settled_passes);
  CHECK(device.changed == host.changed);
  CHECK(device.labels == host.labels);
  CHECK(device.sums == host.sums);
}

}  // namespace

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

TEMPLATE_TEST_CASE("on a device, rows that move change sums as they do on the host", "[assign][sanitize][gpu]", double,
                   float, float16, bfloat16) {
  check_moves<TestType>({5000, 20, 70, 0, 1, 128, true});
  check_moves<TestType>({3001, 33, 200, 0.3, 1, 128, true, 5, false, true});
  check_moves<TestType>({2000, 769, 3, 0, 1, 128, true, 0, false, true});
  check_moves<TestType>({2000, 12, 130, 0, 1, 128, true, 0, true, true});       // by columns
  check_moves<TestType>({700, 1, 20, 0, 1, 128, false, 2, false, true, true});  // scaled
  check_moves<TestType>({4001, 512, 1, 0, 1, 128, false, 0, false, true});      // one cluster
}

TEST_CASE("on a device, rows move among many clusters", "[assign][gpu]") {
  check_moves<float>({20000, 24, 5000, 0, 1, 1 << 20, true});
  check_moves<float>({20000, 24, 5000, 0, 1, 1 << 20, true, 0, false, true});
  check_moves<float16>({9000, 130, 5000, 0, 1, 512, true});
  check_moves<double>({9000, 5, 5000, 0, 1, 1 << 20, true, 0, true});
  check_moves<float>({3000, 2, 70000, 0, 1, 1 << 20});  // more than shared memory counts
  check_moves<float>({(1 << 18) + 3, 130, 300, 0, 1, 1 << 20, true});
  check_moves<float>({100, 5, 6, 0, 1e-42});  // factors of columns beyond the range
  check_moves<double>({100, 5, 6, 0, 1e-310});
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

TEMPLATE_TEST_CASE("on a device, passes that expect labels to stay find the same ones", "[assign][sanitize][gpu]",
                   double, float, float16, bfloat16) {
  constexpr int levels = sizeof(TestType) == 2 ? 128 : 1 << 20;
  // More than 4000 times 16 columns and centroids: labels are confirmed.
  check_settled<TestType>({1, 128, 500, 0, 1, levels});
  check_settled<TestType>({100, 100, 600, 0, 1, levels, true});
  check_settled<TestType>({193, 64, 1024, 0, 1, levels});
  check_settled<TestType>({577, 64, 1000, 0.3, 1, levels, true, 3, false, true});
  check_settled<TestType>({401, 120, 600, 0, 1, 2, false, 8});  // ties
  check_settled<TestType>({300, 16, 4000, 0, 1, levels, false, 1});
  check_settled<TestType>({1000, 128, 1000, 0, 1, levels, true, 0, false, true});
  check_settled<TestType>({333, 128, 3000, 0, 1, levels});
  Case equal{515, 64, 1000, 0, 1, levels, true};
  equal.copies = true;
  check_settled<TestType>(equal);
  Case far{515, 100, 1000, 0, 1, levels, true};
  far.outlying = 1000;
  check_settled<TestType>(far);
  far.copies = true, far.d = 33, far.k = 1500, far.gap = 2;
  check_settled<TestType>(far);
  // Fewer: as ever.
  check_settled<TestType>({300, 16, 129, 0, 1, levels});
  check_settled<TestType>({300, 128, 129, 0, 1, levels});
  check_settled<TestType>({300, 12, 600, 0, 1, levels, false, 0, true});
  check_settled<TestType>({200, 200, 300, 0, 1, levels});
}

TEST_CASE("on a device, passes that expect labels to stay, many rows and the ends of the range", "[assign][gpu]") {
  check_settled<float>({150001, 64, 1000, 0, 1, 1 << 20, true});  // several times all that runs at once
  check_settled<float16>({100003, 128, 600, 0, 1, 512, true});
  check_settled<float>({500, 64, 1000, 1e5, 1, 1 << 20});
  check_settled<float>({500, 64, 1000, 1000, 1e-2, 1 << 20, true});
  check_settled<float>({500, 64, 1000, 0, 1e38, 1 << 20});
  check_settled<float>({500, 64, 1000, 0, 1e-42, 128});
  check_settled<double>({500, 64, 1000, 1e8, 1, 1 << 20});
  check_settled<double>({500, 64, 1000, 0, 1e300, 1 << 20});
  check_settled<double>({500, 64, 1000, 0, 1e-310, 1 << 20});
  check_settled<float16>({500, 128, 1000, 0, 60000, 512});
  Case one{300, 64, 1000, 0, 1, 1};  // all centroids, and all rows, are one
  check_settled<float>(one);
}

TEST_CASE("on a device, passes that expect labels to stay repeat, bit for bit", "[assign][gpu]") {
  constexpr int times = 30;
  const Case c{20011, 100, 1000, 0, 1, 1 << 20, true};
  const auto [host, device] =
      host_and_device<float>(c, [](const Context& ctx, const Rows& x, const Case& of, const Matrix<double>& centroids,
                                   const std::vector<double>&) {
        Passes passes;
        const auto moments = column_moments(ctx, x);
        const FixedPoint unit(moments.reach, 1, x.rows());
        std::vector<std::int32_t> begin;
        for (index_t i = 0; i < of.n; ++i) begin.push_back(static_cast<std::int32_t>((i + i % 29 / 28) % of.k));
        for (int time = 0; time < (x.on_device() ? times : 1); ++time) {
          PerRowArray<std::int32_t> labels(ctx, x.space(), begin);
          ClusterSums sums(of.k, of.d);
          add_rows(ctx, x, moments, labels.view(), {}, unit, sums);
          passes.changed.push_back(
              assign(ctx, {x, moments, centroids.cview(), Scores::float32, labels.view(), {}, &unit, &sums, {}, true})
                  .changed);
          passes.labels.push_back(labels.to_host()), passes.sums.push_back(numbers_of(sums, unit));
        }
        return passes;
      });
  CHECK(host.changed[0] > 0);
  CHECK(device.changed == std::vector<index_t>(times, host.changed[0]));
  for (int time = 0; time < times; ++time) {
    CHECK(device.labels[static_cast<std::size_t>(time)] == host.labels[0]);
    CHECK(device.sums[static_cast<std::size_t>(time)] == host.sums[0]);
  }
}

TEST_CASE("an element that is not finite is named, wherever the rows are", "[assign][gpu]") {
  Context ctx;
  ctx.stream = test::device_stream();
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    auto x = Matrix<float>::zeros(10000, 5);
    x(9000, 3) = x(9000, 4) = x(9999, 0) = bad;
    DeviceMatrix<float> there(ctx.stream, 10000, 5);
    copy(ctx.stream, there.view(), x.cview());
    const std::string message = test::message_of([&] { (void)column_moments(ctx, Rows(ctx.stream, there.cview())); });
    CHECK(message.find("row 9000, column 3") != std::string::npos);
  }
}

TEST_CASE("rows, labels and weights must lie in one memory", "[assign][gpu]") {
  Context ctx;
  ctx.stream = test::device_stream();
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
