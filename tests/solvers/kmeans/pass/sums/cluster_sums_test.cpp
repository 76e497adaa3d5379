#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moved_rows.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/clustered.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/host_rows.hpp"

using namespace ts;
using namespace ts::test;

namespace {

std::vector<Context> contexts() {
  std::vector<Context> all;
  for (const Simd simd : {Simd::best, Simd::sse2, Simd::avx2, Simd::avx512})
    for (const int threads : {1, 3}) {
      Context ctx{.threads = threads, .simd = simd};
      try {
        (void)move_to_means(ctx, FixedPoint({}, 1, 0), ClusterSums(0, 0), {}, Matrix<double>(0, 0).view());
        all.push_back(ctx);
      } catch (const Error&) {  // this processor has no such instructions
      }
    }
  return all;
}

void check_means(const Case& c) {
  INFO("n " << c.n << " d " << c.d << " k " << c.k << " offset " << c.offset << " factor " << c.factor);
  const Clustered of(c);
  const auto before = centres(c);
  auto expected = Matrix<double>::copy_of(before.cview());
  long double shift = 0, inertia = 0, magnitude = 0;
  for (index_t m = 0; m < c.k; ++m) {
    if (of.sums.weightless(m)) continue;
    const Twofold weight = of.sums.exact_weight(of.unit, m);
    const long double w = static_cast<long double>(weight.hi) + weight.lo;
    for (index_t j = 0; j < c.d; ++j) {
      const double mean = of.sums.mean(of.unit, m, j, of.moments.shift[static_cast<std::size_t>(j)]);
      const Twofold exact = of.sums.exact_sum(of.unit, m, j);
      const long double sum =
          (static_cast<long double>(exact.hi) + exact.lo) * of.unit.from_units[static_cast<std::size_t>(j)];
      const auto rounded = static_cast<double>(of.moments.shift[static_cast<std::size_t>(j)] + sum / w);
      CHECK(mean >= std::nextafter(rounded, -std::numeric_limits<double>::infinity()));
      CHECK(mean <= std::nextafter(rounded, std::numeric_limits<double>::infinity()));
      const long double step = static_cast<long double>(mean) - before(m, j),
                        far = static_cast<long double>(mean) - of.moments.shift[static_cast<std::size_t>(j)];
      shift += step * step;
      inertia += far * (far * w - 2 * sum) * of.unit.inverse / of.unit.weight_to_units;
      magnitude += far * far * w * of.unit.inverse / of.unit.weight_to_units;
      expected(m, j) = mean;
    }
  }
  double told_shift = -1;
  Twofold told{-1, 0};
  for (const Context& ctx : contexts()) {
    auto moved = Matrix<double>::copy_of(before.cview());
    const double squared = move_to_means(ctx, of.unit, of.sums, of.moments.shift, moved.view());
    CHECK(same(moved.cview(), expected.cview()));
    const Twofold terms = inertia_terms(ctx, of.unit, of.sums, of.moments.shift, moved.cview());
    if (told_shift < 0) told_shift = squared, told = terms;
    CHECK(squared == told_shift);
    CHECK(terms.hi == told.hi);
    CHECK(terms.lo == told.lo);
  }
  if (c.factor < 1e-200) return;  // squares underflow
  CHECK(told_shift == Approx(static_cast<double>(shift)).epsilon(test::allowed::long_sum));
  CHECK(std::abs(static_cast<long double>(told.hi) + told.lo - inertia) <= test::allowed::twofold * magnitude);
}

}  // namespace

TEST_CASE("rows that change their label are moved without drift", "[assign]") {
  const index_t n = 400, d = 6, k = 5;
  const auto x = points<float>(n, d, 3);
  std::vector<double> weights(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) weights[static_cast<std::size_t>(i)] = std::abs(number(i, 99)) * 1e3;
  const Rows rows(x.cview());
  const auto moments = column_moments({}, rows);
  const FixedPoint unit(moments.max_abs, 1e3, n);
  ClusterSums sums(k, d);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
  for (int step = 0; step < 20; ++step) {
    Context ctx{.threads = 1 + step % 3};
    const auto c = centres(k, d, 3 + 0.05 * step);
    assign(ctx, {rows, moments, c.cview(), Scores::float32, labels, weights, &unit, &sums});
    ClusterSums fresh(k, d);
    std::vector<std::int32_t> none(static_cast<std::size_t>(n), -1);
    assign({}, {rows, moments, c.cview(), Scores::float32, none, weights, &unit, &fresh});
    REQUIRE(none == labels);
    for (index_t m = 0; m < k; ++m) {
      REQUIRE(sums.count(m) == fresh.count(m));
      REQUIRE(sums.weight(unit, m) == fresh.weight(unit, m));
      for (index_t j = 0; j < d && !sums.weightless(m); ++j) REQUIRE(sums.mean(unit, m, j) == fresh.mean(unit, m, j));
    }
  }
}

TEST_CASE("fixed-point sums keep what float64 sums would lose", "[assign]") {
  const std::vector<double> max_abs = {1e6};
  const FixedPoint unit(max_abs, 1, 3);
  ClusterSums sums(1, 1);
  const double values[] = {1e6, 1e-10, -1e6};
  for (const double v : values) sums.add(unit, 0, &v, 1);
  CHECK(sums.mean(unit, 0, 0) == Approx(1e-10 / 3).epsilon(allowed::two_digits));
  for (const double v : values) sums.add(unit, 0, &v, 1, true);
  CHECK(sums.weightless(0));
  CHECK(sums.count(0) == 0);
}

TEST_CASE("rows that wait move as rows that move at once, on any number of threads", "[assign]") {
  // Clusters of very different sizes, some of which no row leaves or joins.
  constexpr index_t n = 700, d = 37, k = 23;
  Matrix<float> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) x(i, j) = static_cast<float>((i * 7919 + j * 104729) % 1013) / 1013 - 0.4F;
  const Rows rows(x.cview());
  const ColumnMoments moments = column_moments({}, rows);
  const FixedPoint unit(moments.max_abs, 2, n);
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(Simd::best);
  ClusterSums expected(k, d);
  std::vector<std::vector<assign_detail::MovedRow>> lists(3);
  std::vector<double> row(static_cast<std::size_t>(d));
  for (index_t i = 0; i < n; ++i) {
    const auto to = static_cast<std::int32_t>(i % 3 == 0 ? i % (k - 2) : 5);
    const auto from = static_cast<std::int32_t>(i % 2 == 0 ? -1 : 7);
    const double weight = i % 4 == 0 ? 0.25 : 2.0;
    lists[static_cast<std::size_t>(i % 2)].push_back({i, weight, from, to});
    kernels.centred(rows, i, moments.shift.data(), row.data());
    expected.add(unit, to, row.data(), weight);
    if (from >= 0) expected.add(unit, from, row.data(), weight, true);
  }
  for (const int threads : {1, 2, 5, 64}) {
    ClusterSums sums(k, d);
    assign_detail::move_rows(threads, kernels, rows, moments.shift.data(), unit, lists, sums);
    CHECK(sums.words() == expected.words());
  }
  ClusterSums none(k, d);
  assign_detail::move_rows(4, kernels, rows, moments.shift.data(), unit, {}, none);
  CHECK(none.words() == ClusterSums(k, d).words());
}

TEST_CASE("passes whose sums are large have the sums of their labels", "[assign]") {
  constexpr index_t n = 900, d = 600, k = 130;  // 1.2 MB of sums
  REQUIRE(assign_detail::moves_wait(ClusterSums(k, d)));
  Matrix<float> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      x(i, j) = static_cast<float>(((i % 150) * 31 + j * 17) % 97 + (i * 13 + j * 7) % 11) / 97;
  const Rows rows(x.cview());
  const ColumnMoments moments = column_moments({}, rows);
  const FixedPoint unit(moments.max_abs, 1, n);
  std::vector<double> weights(static_cast<std::size_t>(n), 1.0);
  weights[3] = 0;
  for (const Scores scores : {Scores::int8, Scores::float32, Scores::float64}) {
    ClusterSums sums(k, d);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
    for (int pass = 0; pass < 3; ++pass) {
      Matrix<double> c(k, d);
      for (index_t m = 0; m < k; ++m) rows.load((m * 7 + pass * 300) % n, &c(m, 0));
      Context ctx{.threads = 1 + pass};
      AssignArguments of{rows, moments, c.cview(), scores};
      of.labels = std::span(labels), of.weights = std::span<const double>(weights), of.unit = &unit, of.sums = &sums;
      CHECK(assign(ctx, of).changed > 0);
      ClusterSums expected(k, d);
      add_rows({}, rows, moments, std::span<const std::int32_t>(labels), std::span<const double>(weights), unit,
               expected);
      CHECK(sums.words() == expected.words());
    }
  }
}

// Means, shifts and inertias from sums in fixed point.

TEST_CASE("means, shifts and inertias are those of long double, the same for all instructions and threads",
          "[assign]") {
  check_means({1, 1, 1});
  check_means({40, 3, 5});
  check_means({300, 31, 4, 0, 1, true});
  check_means({300, 70, 40, 1e5, 1e-3});
  check_means({2000, 32, 300, -3, 1, true});
  check_means({50, 9, 3, 0, 1e150});
  check_means({50, 9, 3, 0, 1e-310});
}

TEST_CASE("the mean of equal rows is the row, however many there are", "[assign]") {
  for (const index_t n : {1, 3, 7, 49, 1000003}) {
    const std::vector<double> max_abs = {0.3};
    const FixedPoint unit(max_abs, 1, n);
    ClusterSums sums(1, 1);
    const double v = 0x1.5p-2;  // less than a unit is rounded away
    for (index_t i = 0; i < n; ++i) sums.add(unit, 0, &v, 1);
    CHECK(sums.mean(unit, 0, 0) == v);
    CHECK(sums.mean(unit, 0, 0, 1e6) == 1e6 + v);
    CHECK(sums.weight(unit, 0) == static_cast<double>(n));
  }
}

TEST_CASE("inertia terms are what the inertia is more than that about the shift", "[assign]") {
  const Case c{500, 20, 6, 2, 1, true};
  const Clustered of(c);
  const auto about = centres(c);
  const std::vector<std::int32_t> zero(500);
  const double from_shift =
      inertia({}, Rows(of.x.cview()), HostView<const double>(of.moments.shift.data(), 1, c.d), zero, of.weights);
  const Twofold terms = inertia_terms({}, of.unit, of.sums, of.moments.shift, about.cview());
  CHECK((terms + from_shift).hi ==
        Approx(inertia({}, Rows(of.x.cview()), about.cview(), of.labels, of.weights)).epsilon(test::allowed::long_sum));
}
