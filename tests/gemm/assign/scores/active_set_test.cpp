// Bounds on a GPU: a pass with margin keeps only rows that are nearer to their centroid by more than that.
#include "tallskinny/gemm/assign/exact/squared_distance.hpp"
#include "tallskinny/gemm/assign/scores/centroids.hpp"
#include "tallskinny/gemm/assign/scores/launch.hpp"
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/device.hpp"

using namespace ts;
using assign_device::ActiveSet;
using Pass = ActiveSet::Pass;

namespace {

struct Case {
  index_t n, d, k;
  double offset = 0, factor = 1;
  double margin = 0.01;  ///< in units of factor, times the root of d
  bool copies = false;   ///< the last centroid is that before it
};

/// `active` such that its next pass has about this margin.
Pass give_margin(ActiveSet& active, index_t n, double margin, double scale) {
  const assign_device::Steps steps{margin / 20, margin / 10};
  // margin = sqrt(most / (4 density)), density = 2 changed / (n typical)
  const double density = steps.most / (4 * margin * margin);
  active.passed(Pass::every_row, n, static_cast<index_t>(density * steps.typical / 2 * static_cast<double>(n)), steps);
  return active.next(true, steps, 0, scale);
}

template <class T>
void check(const Case& c) {
  INFO("n " << c.n << " d " << c.d << " k " << c.k << " type " << static_cast<int>(dtype_of<T>) << " offset "
            << c.offset << " factor " << c.factor);
  Matrix<T> x(c.n, c.d);
  Matrix<double> centroids(c.k, c.d);
  for (index_t i = 0; i < c.n; ++i) {
    const Philox numbers{29, static_cast<std::uint64_t>(i)};
    for (index_t j = 0; j < c.d; ++j)
      x(i, j) = narrowed<T>(c.offset + c.factor * (2 * numbers.uniform(static_cast<std::uint64_t>(j)) - 1));
  }
  const Rows here(x.cview());
  for (index_t m = 0; m < c.k; ++m) here.load(m * (c.n / c.k), centroids.data() + m * c.d);
  if (c.copies) std::copy_n(centroids.data() + (c.k - 2) * c.d, c.d, centroids.data() + (c.k - 1) * c.d);
  Context ctx = test::device_context();
  const ColumnMoments moments = column_moments(ctx, here);
  const double scale = assign_detail::scoring_scale(centroids.cview(), moments);

  // Distances in float64, with what rounding may do to them.
  std::vector<std::int32_t> nearest(static_cast<std::size_t>(c.n));
  std::vector<double> gap(nearest.size());
  std::vector<double> row(static_cast<std::size_t>(c.d));
  for (index_t i = 0; i < c.n; ++i) {
    here.load(i, row.data());
    double first = INFINITY, second = INFINITY;
    for (index_t m = 0; m < c.k - (c.copies ? 1 : 0); ++m) {
      const double distance =
          std::sqrt(assign_detail::squared_distance<double>(row.data(), centroids.data() + m * c.d, c.d, scale));
      second = std::min(second, std::max(first, distance));
      if (distance < first) first = distance, nearest[static_cast<std::size_t>(i)] = static_cast<int>(m);
    }
    gap[static_cast<std::size_t>(i)] = second - first;
  }

  const auto there = test::copy_there(ctx, x);
  // Some rows come with another label: they are active whatever their distances, or get the right one.
  std::vector<std::int32_t> given = nearest;
  for (std::size_t i = 0; i < given.size(); i += 31) given[i] = static_cast<std::int32_t>(i) % c.k;
  PerRowArray<std::int32_t> labels(ctx, Space::device, given);
  DeviceMatrix<double> placed(ctx.stream, c.k + 2, c.d), first_column(ctx.stream, 1, c.k);
  Matrix<double> rows(c.k + 2, c.d), firsts(1, c.k);
  std::copy_n(centroids.data(), c.k * c.d, rows.data());
  double squared = 0;
  for (index_t m = 0; m < c.k; ++m) {
    firsts(0, m) = centroids(m, 0);
    squared = std::max(
        squared, assign_detail::squared_distance<double>(centroids.data() + m * c.d, moments.shift.data(), c.d, scale));
  }
  std::copy(moments.shift.begin(), moments.shift.end(), rows.data() + c.k * c.d);
  std::fill_n(rows.data() + (c.k + 1) * c.d, c.d, 1.0);
  copy(ctx.stream, placed.view(), rows.cview());
  copy(ctx.stream, first_column.view(), firsts.cview());
  const FixedPoint unit(moments.reach, 1, c.n);
  const assign_device::PlacedCentroids of{{c.k, placed.data() + c.k * c.d, placed.data() + (c.k + 1) * c.d},
                                          {scale, squared},
                                          placed.data(),
                                          first_column.data()};

  ActiveSet active;
  const double wanted = c.margin * c.factor * scale * std::sqrt(static_cast<double>(c.d));
  REQUIRE(give_margin(active, c.n, wanted, scale) == Pass::with_margin);
  const auto margin = static_cast<double>(active.margin());
  REQUIRE(margin == Approx(wanted).epsilon(test::allowed::half));
  const Rows on_device(ctx.stream, there.cview());
  (void)assign_device::pass_over(
      ctx, {on_device, moments, of, Scores::float32, labels.view(), {}, &unit, true, Pass::with_margin, &active});
  CHECK(labels.to_host() == nearest);
  active.passed(Pass::with_margin, c.n, 0, {});
  if (c.copies) {
    CHECK(active.next(true, {}, 0, scale) == Pass::every_row);
    return;
  }
  REQUIRE(active.next(true, {}, 0, scale) == Pass::active_rows);
  const index_t count = active.count_of_part(0);
  std::vector<index_t> listed(static_cast<std::size_t>(count));
  cuda::copy_bytes(ctx.stream, listed.data(), active.of_part(0).list, listed.size() * sizeof(index_t));
  ctx.stream.synchronize();
  std::vector<bool> is_active(gap.size());
  for (const index_t i : listed) is_active[static_cast<std::size_t>(i)] = true;
  CHECK(std::count(is_active.begin(), is_active.end(), true) == count);
  // About what scores of upper parts alone leave open.
  const double error = 0x1p-9 * c.factor * scale * std::sqrt(static_cast<double>(c.d));
  index_t wrongly_kept = 0, within = 0, relabelled = 0;
  for (std::size_t i = 0; i < gap.size(); ++i) {
    wrongly_kept += !is_active[i] && !(gap[i] > margin * (1 - test::allowed::nine_digits));
    within += gap[i] <= 1.25 * margin + error;
    relabelled += given[i] != nearest[i];
  }
  CHECK(wrongly_kept == 0);
  // Not many more than must be.
  CHECK(count <= within + within / 2 + relabelled + c.n / 50);

  // A pass over them gives the rest of the labels, and leaves all others alone.
  std::vector<std::int32_t> spoilt = nearest;
  for (const index_t i : listed) spoilt[static_cast<std::size_t>(i)] = -1;
  PerRowArray<std::int32_t> again(ctx, Space::device, spoilt);
  const AssignStats stats = assign_device::pass_over(
      ctx, {on_device, moments, of, Scores::float32, again.view(), {}, &unit, true, Pass::active_rows, &active});
  CHECK(stats.skipped == c.n - count);
  CHECK(stats.changed == count);
  CHECK(again.to_host() == nearest);
}

}  // namespace

TEST_CASE("bounds on a GPU choose their margin by what it costs", "[assign]") {
  ActiveSet active;
  const assign_device::Steps steps{0.01, 0.008};
  CHECK(active.next(true, steps, 0, 1) == Pass::every_row);  // nothing is known yet
  active.passed(Pass::every_row, 1000000, 500, steps);
  CHECK(active.next(false, steps, 0, 1) == Pass::every_row);  // too much moves
  CHECK(active.next(true, {}, 0, 1) == Pass::every_row);      // centroids came from elsewhere
  CHECK(active.next(true, {0, 0}, 0, 1) == Pass::every_row);
  active.passed(Pass::every_row, 1000000, 60000, steps);  // that would not pay
  CHECK(active.next(true, steps, 0, 1) == Pass::every_row);
  active.passed(Pass::every_row, 1000000, 500, steps);
  REQUIRE(active.next(true, steps, 0, 1) == Pass::with_margin);
  // 501 rows changed over steps of 0.002: a density of 0.125 a unit.
  CHECK(static_cast<double>(active.margin()) ==
        Approx(std::sqrt(0.01 / (4 * 0.12525))).epsilon(test::allowed::six_digits));
}

TEST_CASE("bounds on a GPU learn from a pass in which too many rows are active", "[assign]") {
  ActiveSet active;
  const assign_device::Steps steps{0.01, 0.008};
  active.passed(Pass::every_row, 1000000, 500, steps);
  REQUIRE(active.next(true, steps, 0, 1) == Pass::with_margin);
  active.keep({}, 1000000, nullptr, 250001, true);
  const double tried = active.margin();
  active.passed(Pass::with_margin, 1000000, 500, steps);
  const assign_device::Steps longer{0.02, 0.016};
  CHECK(active.next(true, longer, 0, 1) == Pass::every_row);
  active.passed(Pass::every_row, 1000000, 500, longer);  // what was measured is not forgotten
  CHECK(active.next(true, longer, 0, 1) == Pass::every_row);
  CHECK(active.next(true, steps, 0, 1) == Pass::with_margin);
  CHECK(static_cast<double>(active.margin()) < tried / 3);
}

TEMPLATE_TEST_CASE("on a device, rows that a pass with margin keeps have it", "[assign][sanitize][gpu]", double, float,
                   float16) {
  check<TestType>({4000, 4, 16});       // assign_narrow, assign_single
  check<TestType>({3001, 9, 20, 0.5});  // no whole loads
  check<TestType>({3000, 16, 64, 0, 1, 0.004});
  check<TestType>({3000, 40, 33, 0, 1, 0.004});
  check<TestType>({2500, 100, 90, 0.75, 1, 0.002});  // assign_scores
  check<TestType>({3000, 32, 256, 0, 1, 0.002});     // labels are confirmed
  check<TestType>({3000, 24, 100, 0, 1, 0.004, true});
}

TEMPLATE_TEST_CASE("on a device, so do rows of many columns, or among many centroids", "[assign][gpu]", double, float,
                   float16) {
  check<TestType>({3000, 128, 1000, 0, 1, 0.0005});  // assign_groups with producer warps
  check<TestType>({3000, 64, 1100, 0.25, 1, 0.0007});
  check<TestType>({2000, 200, 64, 0, 1, 0.001});  // assign_groups
  check<TestType>({1500, 520, 300, 0, 1, 0.0004});
}

TEST_CASE("on a device, margin far from the origin and at the ends of the range", "[assign][gpu]") {
  check<float>({3000, 20, 30, 1e5, 1, 0.004});
  check<double>({3000, 6, 12, 0, 1e-300, 0.008});
  check<double>({3000, 6, 12, 0, 1e140, 0.008});
  check<float>({3000, 70, 300, 100, 1e-3, 0.0015});
}

TEST_CASE("listed rows of few columns are dear", "[assign]") {
  CHECK(ActiveSet::cost_of(128, 4) == 4);
  CHECK(ActiveSet::cost_of(4, 2) == Approx(1.25 * 104 / 12));
  CHECK(ActiveSet::cost_of(4, 4) == Approx(1.25 * 104 / 20));
}
