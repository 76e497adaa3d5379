// Means, shifts and inertias from sums in fixed point, and clusters that take many passes.
#include "tallskinny/gemm/assign/clusters/clusters.hpp"
#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/plan/typical_device.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

namespace {

struct Case {
  index_t n, d, k;
  double offset = 0, factor = 1;
  bool weighted = false;
};

/// Rows, weights, and sums of rows whose labels are any of the first k - 1.
struct Clustered {
  Matrix<double> x;
  std::vector<double> weights;
  std::vector<std::int32_t> labels;
  ColumnMoments moments;
  FixedPoint unit;
  ClusterSums sums;

  explicit Clustered(const Case& c)
      : x(c.n, c.d),
        moments(column_moments({}, fill(c))),
        unit(moments.reach, c.weighted ? 3 : 1, c.n),
        sums(c.k, c.d) {
    add_rows({}, Rows(x.cview()), moments, labels, weights, unit, sums);
  }

 private:
  Rows fill(const Case& c) {
    for (index_t i = 0; i < c.n; ++i) {
      labels.push_back(static_cast<std::int32_t>(i * 7 % std::max<index_t>(1, c.k - 1)));
      const Philox numbers{11, static_cast<std::uint64_t>(i)};
      if (c.weighted) weights.push_back(3 * numbers.uniform(std::uint64_t{1} << 40));
      for (index_t j = 0; j < c.d; ++j)
        x(i, j) = c.offset + c.factor * (2 * numbers.uniform(static_cast<std::uint64_t>(j)) - 1);
    }
    return {x.cview()};
  }
};

Matrix<double> centres(const Case& c) {
  Matrix<double> out(c.k, c.d);
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d; ++j) out(m, j) = c.offset + c.factor * std::sin(static_cast<double>(m * c.d + j));
  return out;
}

std::vector<Context> contexts() {
  std::vector<Context> all;
  for (const Simd simd : {Simd::best, Simd::sse2, Simd::avx2, Simd::avx512})
    for (const int threads : {1, 3}) {
      Context ctx;
      ctx.simd = simd, ctx.threads = threads;
      try {
        (void)move_to_means(ctx, FixedPoint({}, 1, 0), ClusterSums(0, 0), {}, Matrix<double>(0, 0).view());
        all.push_back(ctx);
      } catch (const Error&) {  // this processor has no such instructions
      }
    }
  return all;
}

bool same(HostView<const double> a, HostView<const double> b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data());
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
    const std::vector<double> reach = {0.3};
    const FixedPoint unit(reach, 1, n);
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

TEST_CASE("clusters do what their parts do", "[assign]") {
  const Case c{9000, 5, 7, 1, 1, true};
  const Clustered of(c);
  const Rows rows(of.x.cview());
  auto expected = centres(c);
  const Context ctx;
  Clusters clusters(ctx, Space::host, of.moments, of.unit, Matrix<double>::copy_of(expected.cview()));
  ClusterSums sums(c.k, c.d);
  std::vector<std::int32_t> labels(9000, -1), there = labels;
  for (int step = 0; step < 4; ++step) {
    const AssignStats stats =
        assign(ctx, {rows, of.moments, expected.cview(), Scores::float32, labels, of.weights, &of.unit, &sums});
    CHECK(clusters.assign(rows, Scores::float32, there, of.weights, Clusters::Sums::move).changed == stats.changed);
    CHECK(there == labels);
    const double shift = move_to_means(ctx, of.unit, sums, of.moments.shift, expected.view());
    const Clusters::Moved moved = clusters.move_to_means();
    CHECK(moved.weightless.empty());
    CHECK(moved.squared_shift == shift);
    CHECK(same(clusters.centroids().cview(), expected.cview()));
    CHECK(clusters.inertia_terms().hi == inertia_terms(ctx, of.unit, sums, of.moments.shift, expected.cview()).hi);
  }
}

TEST_CASE("no centroid moves while a cluster is weightless", "[assign]") {
  const Case c{100, 3, 4};
  const Clustered of(c);  // nothing is in the last cluster
  const auto before = centres(c);
  const Context ctx;
  Clusters clusters(ctx, Space::host, of.moments, of.unit, Matrix<double>::copy_of(before.cview()));
  clusters.add_rows(Rows(of.x.cview()), of.labels, of.weights);
  CHECK(clusters.move_to_means().weightless == std::vector<index_t>{3});
  CHECK(same(clusters.centroids().cview(), before.cview()));
  CHECK(clusters.sums().count(0) == of.sums.count(0));
  clusters.place(Matrix<double>::zeros(4, 3));
  CHECK(clusters.centroids()(2, 1) == 0);
  CHECK_THROWS_AS(clusters.place(Matrix<double>(3, 3)), Error);
}

TEST_CASE("an iteration on a device starts one kernel more than its pass", "[assign][cuda]") {
  Context ctx;
  ctx.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"));
  const Clustered of({100, 3, 4});  // moments of rows that a rehearsal need not have
  const DeviceMatrix<double> x(ctx.stream, 100000, 3);
  const Rows rows(ctx.stream, x.cview());
  Clusters clusters(ctx, Space::device, of.moments, of.unit, centres({100, 3, 4}));
  PerRowArray<std::int32_t> labels(ctx, Space::device, 100000, 0xff);
  auto& kernels = ctx.stream.rehearsal()->kernels;
  const auto started = [&](const auto& work) {
    kernels.clear();
    work();
    std::vector<std::string> families;
    for (const cuda::KernelPlan& plan : kernels) families.emplace_back(plan.family);
    return families;
  };
  const auto pass = [&] { (void)clusters.assign(rows, Scores::float32, labels.view(), {}, Clusters::Sums::move); };
  const std::vector<std::string> of_pass = started(pass);
  CHECK(of_pass.front() == "assign_prepare");
  auto of_iteration = of_pass;
  of_iteration.emplace_back("assign_means");
  CHECK(started([&] { pass(), (void)clusters.move_to_means(); }) == of_iteration);
}
