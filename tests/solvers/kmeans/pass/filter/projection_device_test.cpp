// Centroids listed by projections of rows: the bits of passes over all centroids.
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
  ProjectionForm form = {48};
  double offset = 0, factor = 1;
  int levels = 0;       ///< different values of an element: few of them make ties; 0: any
  bool copies = false;  ///< every fifth row is a copy of the one before, and so is a first centroid
  bool zeros = false;   ///< every seventh row is zero
  double outlying = 0;  ///< every hundredth row is so many times longer
  bool weighted = false;
  index_t gap = 0;                 ///< elements between rows
  bool turned = true;              ///< axes are those of the data, or others
  double most_left = -1;           ///< of the last pass; negative: not asked
  bool bounds = false;             ///< of tiles, instead of projections
  bool after_projections = false;  ///< of tiles, which projections begin
};

/// Rows of directions that differ less along later axes, which a reflection mixes, in groups.
template <class T>
Matrix<T> rows_of(const Case& c) {
  Matrix<T> x(c.n, c.d + c.gap);
  std::vector<double> row(static_cast<std::size_t>(c.d));
  const double mixed = 2.0 / static_cast<double>(c.d);
  for (index_t i = 0; i < c.n; ++i) {
    const index_t source = c.copies && i % 5 == 4 ? i - 1 : i;
    const Philox own{5, static_cast<std::uint64_t>(source)}, group{6, static_cast<std::uint64_t>(source % 97)};
    double norm = 0, sum = 0;
    for (index_t j = 0; j < c.d; ++j) {
      const auto at = static_cast<std::uint64_t>(j);
      const double v =
          (group.uniform(at) - 0.5 + 0.8 * (own.uniform(at) - 0.5)) / std::sqrt(static_cast<double>(j + 1));
      row[at] = v, norm += v * v, sum += v;
    }
    for (index_t j = 0; j < c.d; ++j) {
      double v = (row[static_cast<std::size_t>(j)] - mixed * sum) / std::sqrt(norm);
      if (c.levels > 0) v = std::floor(v * c.levels) / c.levels;
      if (c.zeros && source % 7 == 3) v = 0;
      if (c.outlying > 0 && source % 100 == 50) v *= c.outlying;
      x(i, j) = narrowed<T>(c.offset + c.factor * v);
    }
    for (index_t j = c.d; j < c.d + c.gap; ++j) x(i, j) = narrowed<T>(std::nan(""));
  }
  return x;
}

/// The axes of such rows, or coordinates.
Matrix<double> axes_of(const Case& c) {
  Matrix<double> axes(c.d, c.form.columns);
  for (index_t i = 0; i < c.d; ++i)
    for (index_t j = 0; j < c.form.columns; ++j)
      axes(i, j) = (i == j ? 1 : 0) - (c.turned ? 2.0 / static_cast<double>(c.d) : 0);
  return axes;
}

template <class T>
void check(const Case& c) {
  INFO("n " << c.n << " d " << c.d << " k " << c.k << " m " << c.form.columns << " numbers "
            << static_cast<int>(c.form.numbers) << " type " << static_cast<int>(dtype_of<T>) << " offset " << c.offset
            << " levels " << c.levels << " outlying " << c.outlying << " bounds " << c.bounds);
  const Matrix<T> here = rows_of<T>(c);
  Context ctx = test::device_context();
  const auto there = test::copy_there(ctx, here);
  const Rows x(ctx.stream, DeviceView<const T>(there.data(), c.n, c.d, c.d + c.gap));
  const auto moments = column_moments(ctx, x);
  const FixedPoint unit(moments.max_abs, c.weighted ? 2 : 1, c.n);
  Matrix<double> first(c.k, c.d);
  for (index_t m = 0; m < c.k; ++m) x.load(m * (c.n / c.k), first.data() + m * c.d);
  if (c.copies)
    for (index_t j = 0; j < c.d; ++j) first(3, j) = first(1, j);
  std::vector<double> weights;
  if (c.weighted)
    for (index_t i = 0; i < c.n; ++i) weights.push_back(static_cast<double>(i % 5) / 4);
  const PerRowArray<double> weigh(ctx, Space::device, weights);
  const auto none = [&] { return PerRowArray<std::int32_t>(ctx, Space::device, c.n, 0xff); };
  const auto plain = Clusters::make(ctx, Space::device, moments, unit, Matrix<double>::copy_of(first.cview())),
             choosing = Clusters::make(ctx, Space::device, moments, unit, std::move(first));
  const Matrix<double> axes_here = axes_of(c);
  DeviceMatrix<double> axes(ctx.stream, c.d, c.form.columns);
  copy(ctx.stream, axes.view(), axes_here.cview());
  auto labels = none(), listed = none();
  index_t left = 0, chosen_passes = 0;
  for (int step = 0; step < 6; ++step) {
    INFO("step " << step);
    const AssignStats all = plain->assign(x, Scores::float32, labels.view(), weigh.view(), Clusters::Sums::move);
    const PassFilter filter = step == 0 ? PassFilter::none : c.bounds ? PassFilter::tiles : PassFilter::projection;
    choosing->begin_pass(filter, c.n, {});
    const AssignStats few = choosing->assign(x, Scores::float32, listed.view(), weigh.view(), Clusters::Sums::move);
    CHECK(few.filter == filter);
    CHECK(few.changed == all.changed);
    CHECK(listed.to_host() == labels.to_host());
    CHECK(test::numbers_of(choosing->sums(), unit) == test::numbers_of(plain->sums(), unit));
    CHECK(all.scored == 0);
    chosen_passes += few.scored > 0 ? 1 : 0;
    left = few.scored;
    CHECK(choosing->move_to_means().squared_shift == plain->move_to_means().squared_shift);
    if (step == 0 && (!c.bounds || c.after_projections)) choosing->use_projections(x, axes.cview(), c.form.numbers);
    if (step == 0 && c.bounds) choosing->use_tile_bounds(x);
  }
  CHECK(chosen_passes >= 2);
  if (c.most_left >= 0) CHECK(static_cast<double>(left) < c.most_left * static_cast<double>(c.n * c.k));
}

}  // namespace

TEMPLATE_TEST_CASE("centroids listed by projections give the labels and sums of all",
                   "[assign][projections][sanitize][gpu]", float, float16) {
  check<TestType>({5000, 256, 300, {48}, 0, 1, 0, false, false, 0, false, 0, true, 0.9});
  check<TestType>({777, 512, 129, {112}});
  check<TestType>({1000, 136, 700, {48}, 0, 1, 0, false, true});
}

TEMPLATE_TEST_CASE("projections of rows that repeat, vanish, weigh, are far or lie apart", "[assign][projections][gpu]",
                   float, float16) {
  check<TestType>({3001, 201, 257, {48}, 0, 1, 6, true, true});
  check<TestType>({3001, 201, 257, {112}, 0.5, 1, 0, true, true, 0, true, 3});
  check<TestType>({2000, 264, 300, {48}, 0, 1, 0, true, false, 30});
  check<TestType>({2000, 264, 300, {48}, 0, 100, 8, false, false, 0, false, 0, false});
  check<TestType>({4099, 768, 260, {240}});
  check<TestType>({4099, 1024, 200, {176}, 3, 0.01});
}

TEMPLATE_TEST_CASE("projections in 8 bits give the labels and sums of all",
                   "[assign][projections][int8][sanitize][gpu]", float, float16) {
  check<TestType>({5000, 256, 300, {64, ProjectionNumbers::int8}, 0, 1, 0, false, false, 0, false, 0, true, 0.9});
  check<TestType>({777, 512, 129, {256, ProjectionNumbers::int8}});
  check<TestType>({1000, 136, 700, {96, ProjectionNumbers::int8}, 0, 1, 0, false, true});
}

TEMPLATE_TEST_CASE("projections in 8 bits of rows that repeat, vanish, weigh, are far or lie apart",
                   "[assign][projections][int8][gpu]", float, float16) {
  check<TestType>({3001, 201, 257, {64, ProjectionNumbers::int8}, 0, 1, 6, true, true});
  check<TestType>({3001, 201, 257, {160, ProjectionNumbers::int8}, 0.5, 1, 0, true, true, 0, true, 3});
  check<TestType>({2000, 264, 300, {96, ProjectionNumbers::int8}, 0, 1, 0, true, false, 30});
  check<TestType>({2000, 264, 300, {224, ProjectionNumbers::int8}, 0, 100, 8, false, false, 0, false, 0, false});
  check<TestType>({2000, 264, 300, {96, ProjectionNumbers::int8}, 0, 1, 0, false, false, 1000, true});
  check<TestType>({4099, 768, 260, {352, ProjectionNumbers::int8}, 0, 1, 0, false, false, 0, false, 0, true, 0.7});
  check<TestType>({4099, 1024, 200, {480, ProjectionNumbers::int8}, 3, 0.01});
}

TEMPLATE_TEST_CASE("centroids listed by bounds of tiles give the labels and sums of all",
                   "[assign][projections][bounds][sanitize][gpu]", float, float16) {
  const auto bounds = [](Case c) {
    c.bounds = true;
    check<TestType>(c);
    c.after_projections = true;
    check<TestType>(c);
    c.form = {64, ProjectionNumbers::int8};
    check<TestType>(c);
  };
  bounds({.n = 5000, .d = 256, .k = 300, .most_left = 0.9});
  bounds({.n = 777, .d = 512, .k = 129});
  bounds({.n = 1000, .d = 136, .k = 700, .copies = true});
}

TEMPLATE_TEST_CASE("bounds of tiles of rows that repeat, vanish, weigh, are far or lie apart",
                   "[assign][projections][bounds][gpu]", float, float16) {
  const auto bounds = [](Case c) {
    c.bounds = true;
    check<TestType>(c);
    c.after_projections = true;
    check<TestType>(c);
  };
  bounds({.n = 3001, .d = 201, .k = 257, .levels = 6, .copies = true, .zeros = true});
  bounds({.n = 3001, .d = 201, .k = 257, .offset = 0.5, .copies = true, .zeros = true, .weighted = true, .gap = 3});
  bounds({.n = 2000, .d = 264, .k = 300, .copies = true, .outlying = 30});
  bounds({.n = 2000, .d = 264, .k = 300, .factor = 100, .levels = 8});
  bounds({.n = 2000, .d = 264, .k = 300, .outlying = 1000, .weighted = true});
  bounds({.n = 4099, .d = 768, .k = 260});
  bounds({.n = 4099, .d = 1024, .k = 200, .offset = 3, .factor = 0.01});
}
