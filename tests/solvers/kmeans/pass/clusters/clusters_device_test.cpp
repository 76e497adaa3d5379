// Clusters that stay on a GPU: the same bits as in host memory.
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"
#include "tallskinny/solvers/kmeans/pass/pass.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/numbers.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/device.hpp"

using namespace ts;

namespace {

struct Case {
  index_t n, d, k;
  double offset = 0, factor = 1;
  bool weighted = false;
  index_t block = 0;  ///< rows that come at a time; 0: all
  bool far = false;   ///< the last centroid is beyond all rows
  int steps = 5;
  bool bounded = false;  ///< passes may leave rows alone
  bool skips = false;    ///< and do so on a device, too
};

/// All that a run tells, step by step.
struct Told {
  std::vector<std::int32_t> labels;
  std::vector<double> numbers;
  std::vector<index_t> counts;
};

void add(Told& told, Clusters& clusters, const Clusters::Moved& moved) {
  const Matrix<double> centroids = clusters.centroids();
  told.numbers.insert(told.numbers.end(), centroids.data(), centroids.data() + centroids.rows() * centroids.cols());
  const Twofold terms = clusters.inertia_terms();
  for (const double x : {moved.squared_shift, terms.hi, terms.lo}) told.numbers.push_back(x);
  told.counts.insert(told.counts.end(), moved.weightless.begin(), moved.weightless.end());
  const std::vector<double> sums = test::numbers_of(clusters.sums(), clusters.unit());
  told.numbers.insert(told.numbers.end(), sums.begin(), sums.end());
}

Told run(const Context& ctx, const Rows& x, const Case& c, const std::vector<double>& weights) {
  const auto moments = column_moments(ctx, x);
  const FixedPoint unit(moments.max_abs, weights.empty() ? 1 : 2, c.n);
  Matrix<double> first(c.k, c.d);
  for (index_t m = 0; m < c.k; ++m) x.load(m * (c.n / c.k), first.data() + m * c.d);
  if (c.far) first(c.k - 1, 0) = c.offset + 1000 * c.factor;
  const auto made = Clusters::make(ctx, x.space(), moments, unit, std::move(first));
  Clusters& clusters = *made;
  PerRowArray<std::int32_t> labels(ctx, x.space(), std::vector<std::int32_t>(static_cast<std::size_t>(c.n), -1));
  const PerRowArray<double> weigh(ctx, x.space(), weights);
  const bool bounded = c.bounded && x.space() == Space::host;
  index_t skipped = 0;
  Told told;
  const index_t block = c.block == 0 ? c.n : c.block;
  for (int step = 0; step < c.steps; ++step) {
    clusters.begin_pass(bounded ? PassFilter::rows : PassFilter::none, c.n, {});
    for (index_t i = 0; i < c.n; i += block) {
      const index_t rows = std::min(block, c.n - i);
      const AssignStats stats = clusters.assign(x.block(i, rows), Scores::float32, labels.view().part(i, rows),
                                                weigh.view().part(i, rows), Clusters::Sums::move, step > 1, i);
      skipped += stats.skipped;
      told.counts.push_back(stats.changed);
    }
    const Clusters::Moved moved = clusters.move_to_means();
    add(told, clusters, moved);
    if (moved.weightless.empty()) continue;
    Matrix<double> placed = clusters.centroids();  // an empty cluster stands near another one from then on
    for (const index_t m : moved.weightless)
      for (index_t j = 0; j < c.d; ++j) placed(m, j) = placed(0, j) + 0.01 * c.factor;
    clusters.place(std::move(placed));
    add(told, clusters, {});
  }
  clusters.begin_pass(PassFilter::none, c.n, {});
  (void)clusters.assign(x, Scores::float32, labels.view(), weigh.view(), Clusters::Sums::stay);
  told.labels = labels.to_host();
  add(told, clusters, {});
  CHECK((bounded || skipped == 0));
  CHECK((!(bounded && c.skips) || skipped > 0));

  const auto again = Clusters::make(ctx, x.space(), moments, unit, clusters.centroids());
  again->add_rows(x, labels.view(), weigh.view());
  add(told, *again, {});
  return told;
}

template <class T>
void check(const Case& c) {
  INFO("n " << c.n << " d " << c.d << " k " << c.k << " type " << static_cast<int>(dtype_of<T>) << " offset "
            << c.offset << " factor " << c.factor << " block " << c.block);
  Matrix<T> x(c.n, c.d);
  std::vector<double> weights;
  for (index_t i = 0; i < c.n; ++i) {
    const Philox numbers{23, static_cast<std::uint64_t>(i)};
    if (c.weighted) weights.push_back(static_cast<double>(i % 5) / 2);
    for (index_t j = 0; j < c.d; ++j)
      x(i, j) = narrowed<T>(c.offset + c.factor * numbers.uniform(static_cast<std::uint64_t>(j)));
  }
  Context ctx = test::device_context();
  const auto there = test::copy_there(ctx, x);
  const Told host = run(ctx, Rows(x.cview()), c, weights), device = run(ctx, {ctx.stream, there.cview()}, c, weights);
  CHECK(device.labels == host.labels);
  CHECK(device.counts == host.counts);
  CHECK(device.numbers == host.numbers);
}

}  // namespace

TEMPLATE_TEST_CASE("on a device, clusters are those of the host, pass by pass", "[assign][sanitize][gpu]", double,
                   float, float16) {
  check<TestType>({1, 1, 1});
  check<TestType>({300, 4, 16});
  check<TestType>({517, 33, 9, 0, 1, true});
  check<TestType>({9001, 7, 5, 0.5, 1, true, 4096});
  check<TestType>({400, 5, 6, 0, 1, false, 0, true});
}

TEST_CASE("on a device, clusters far from the origin, at the ends of the range, wide and many", "[assign][gpu]") {
  check<float>({500, 40, 7, 1e5, 1});
  check<double>({500, 6, 5, 0, 1e-300});
  check<double>({500, 6, 5, 0, 1e140});
  check<float>({3000, 200, 64});
  check<float>({5000, 16, 700, 0, 1, true});
  check<double>({300, 5, 4, 0, 1, false, 0, true});
  check<float>({5000, 64, 1000, 0.5, 1, true, 4096});  // labels are confirmed
}

TEMPLATE_TEST_CASE("on a device, bounds leave rows alone and change nothing", "[assign][gpu]", double, float, float16) {
  const auto check_bounded = [](Case c, bool skips = false) {
    c.steps = 40, c.bounded = true, c.skips = skips;
    check<TestType>(c);
  };
  check_bounded({20000, 1, 6}, true);
  check_bounded({20000, 2, 8}, true);
  check_bounded({20000, 5, 12, 0.5, 1, true});
  check_bounded({20000, 16, 40});
  check_bounded({10000, 3, 300});
  check_bounded({8000, 130, 4});
}

TEST_CASE("clusters on a device serve rows there", "[assign][gpu]") {
  Context ctx = test::device_context();
  const auto x = Matrix<float>::zeros(10, 2);
  const Rows rows(x.cview());
  const auto moments = column_moments(ctx, rows);
  const auto clusters =
      Clusters::make(ctx, Space::device, moments, FixedPoint(moments.max_abs, 1, 10), Matrix<double>::zeros(2, 2));
  std::vector<std::int32_t> labels(10, -1);
  CHECK_THROWS_AS(clusters->assign(rows, Scores::float32, labels, {}, Clusters::Sums::move), Error);
  CHECK_THROWS_AS(clusters->place(Matrix<double>(3, 2)), Error);
}
