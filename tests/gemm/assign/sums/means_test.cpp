// Means, shifts and inertias from sums in fixed point.
#include "tallskinny/gemm/assign/sums/means.hpp"

#include <limits>

#include "tallskinny/tests/gemm/assign/clustered.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::test;

namespace {

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
