// Greedy k-means++ on rows in host memory: which rows a candidate is nearer to, and draws.
#include "tallskinny/solvers/kmeans/seeding/choose.hpp"

#include "tallskinny/solvers/kmeans/seeding/nearer_rows.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::assign_detail;

namespace {

double uniform(index_t i, index_t j) {
  return Philox{5, static_cast<std::uint64_t>(j)}.uniform(static_cast<std::uint64_t>(i));
}

/// Rows of which some are far out, and copies of each other.
template <class T>
Matrix<T> some_rows(index_t n, index_t d, double offset) {
  Matrix<T> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      x(i, j) = static_cast<T>(offset + uniform(i % 500 == 7 ? 7 : i, j) * (i % 97 == 0 ? 300 : 1));
  return x;
}

double distance(const Matrix<double>& coordinates, index_t a, index_t b) {
  double sum = 0;
  for (index_t j = 0; j < coordinates.cols(); ++j) sum += std::pow(coordinates(a, j) - coordinates(b, j), 2);
  return sum;
}

template <class T>
void check_nearer(index_t n, index_t d, index_t count, double offset, Simd simd) {
  INFO("n " << n << " d " << d << " candidates " << count << " offset " << offset);
  const Matrix<T> x = some_rows<T>(n, d, offset);
  const Rows rows(x.cview());
  Context ctx{.simd = simd};
  const ColumnMoments moments = column_moments(ctx, rows);
  Matrix<double> coordinates(n, d);
  std::vector<index_t> candidates;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      coordinates(i, j) = static_cast<double>(x(i, j)) - moments.shift[static_cast<std::size_t>(j)];
  std::vector<double> squared;
  for (index_t i = 0; i < n; ++i) squared.push_back(distance(coordinates, i, n / 2));
  for (index_t q = 0; q < count; ++q) candidates.push_back(q * (n / count));
  HostNearerRowSearch search(ctx, rows, moments);
  for (int round = 0; round < 3; ++round) {  // scores become more accurate from call to call, if need be
    const NearerRows found = search.find(candidates, squared);
    for (index_t q = 0; q < count; ++q) {
      std::vector<index_t> expected, got;
      constexpr double open = test::allowed::six_digits;  // of a distance, within which rounding may decide
      for (index_t i = 0; i < n; ++i)
        if (distance(coordinates, i, q * (n / count)) < squared[static_cast<std::size_t>(i)] * (1 - open))
          expected.push_back(i);
      for (const NearerRow& near : found.of(q)) {
        const double exact = distance(coordinates, near.row, q * (n / count));
        CHECK(near.squared == Approx(exact).epsilon(test::allowed::six_digits));
        CHECK(near.squared < squared[static_cast<std::size_t>(near.row)]);
        if (exact < squared[static_cast<std::size_t>(near.row)] * (1 - open)) got.push_back(near.row);
      }
      std::sort(got.begin(), got.end());
      CHECK(got == expected);
    }
  }
}

SeedRows choose(int threads, const Rows& rows, std::vector<double>& squared, std::span<const double> weights,
                const Choosing& how) {
  Context ctx{.threads = threads};
  const ColumnMoments moments = column_moments(ctx, rows);
  return ts::choose_rows(ctx, rows, moments, PerRow<double>(squared), PerRow<const double>(weights), how);
}

}  // namespace

TEST_CASE("all rows are found that a candidate is nearer to, and no others", "[assign]") {
  const Simd simd = GENERATE(Simd::best, Simd::sse2);
  check_nearer<float>(1000, 33, 40, 0, simd);
  check_nearer<float>(700, 3, 5, 1e3, simd);
  check_nearer<double>(600, 17, 30, 1e5, simd);
  check_nearer<double>(50, 300, 9, 0, simd);
  check_nearer<float>(1, 1, 1, 0, simd);
  check_nearer<float>(600, 200, 40, 0, simd);
  check_nearer<float>(1500, 1, 60, 0, simd);
}

TEST_CASE("rows of one column are found on the line, each with the bits of its difference", "[assign]") {
  constexpr index_t n = 1200;
  for (const int kind : {0, 1, 2}) {  // spread and far out; few values; of many orders
    Matrix<double> x(n, 1);
    for (index_t i = 0; i < n; ++i)
      x(i, 0) = kind == 0   ? uniform(i, 0) * (i % 97 == 0 ? 1e9 : 1)
                : kind == 1 ? static_cast<double>(i * i % 41)
                            : std::ldexp(uniform(i, 1) - 0.5, static_cast<int>(i % 100) - 50);
    const auto square = [&](index_t a, index_t b) { return (x(a, 0) - x(b, 0)) * (x(a, 0) - x(b, 0)); };
    const Rows rows(x.cview());
    for (const index_t centers : {1, 3, 200}) {
      std::vector<double> squared(static_cast<std::size_t>(n), std::numeric_limits<double>::max());
      for (index_t i = 0; i < n; ++i)
        for (index_t m = 0; m < centers; ++m) {
          double& kept = squared[static_cast<std::size_t>(i)];
          kept = std::min(kept, square(i, m * 5 + 1));
        }
      std::vector<index_t> candidates;
      for (index_t q = 0; q < 150; ++q) candidates.push_back(q * 8);
      const Context ctx{.threads = 2};
      const ColumnMoments moments = column_moments(ctx, rows);
      HostNearerRowSearch search(ctx, rows, moments);
      const NearerRows found = search.find(candidates, squared);
      for (index_t q = 0; q < 150; ++q) {
        std::vector<std::pair<index_t, double>> expected, got;
        for (index_t i = 0; i < n; ++i)
          if (const double own = square(i, q * 8); own < squared[static_cast<std::size_t>(i)])
            expected.emplace_back(i, own);
        for (const NearerRow& near : found.of(q)) got.emplace_back(near.row, near.squared);
        std::sort(got.begin(), got.end());
        REQUIRE(got == expected);
      }
    }
  }
}

TEST_CASE("what is found by integers is what float32 finds, bit for bit", "[assign]") {
  for (const double near : {0.02, 0.3, 3.0}) {  // how far rows are from one of 70 places
    constexpr index_t n = 1500, d = 230, count = 150;
    Matrix<float> x(n, d);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < d; ++j)
        x(i, j) = static_cast<float>((uniform(i % 70, j) + near * uniform(i + 70, j)) /
                                     std::sqrt(1 + static_cast<double>(j)));
    std::vector<index_t> candidates;
    for (index_t q = 0; q < count; ++q) candidates.push_back(q * 7 % n);
    const auto find = [&](Simd simd) {
      Context ctx{.threads = 2, .simd = simd};
      const Rows rows(x.cview());
      const ColumnMoments moments = column_moments(ctx, rows);
      std::vector<double> squared(static_cast<std::size_t>(n), std::numeric_limits<double>::max());
      std::vector<double> totals(1);
      Matrix<double> centers(60, d);
      for (index_t m = 0; m < 60; ++m) rows.load(m * 11, &centers(m, 0));
      lower_potential(ctx, {rows, moments, centers.cview(), PerRow<double>(squared), {}, totals});
      HostNearerRowSearch search(ctx, rows, moments);
      const NearerRows found = search.find(candidates, squared);
      std::vector<std::pair<std::int32_t, double>> pairs;
      for (index_t q = 0; q < count; ++q)
        for (const NearerRow& of : found.of(q)) pairs.emplace_back(of.row, of.squared);
      return pairs;
    };
    CHECK(!find(Simd::sse2).empty());
    CHECK(find(Simd::best) == find(Simd::sse2));
  }
}

TEST_CASE("rows are drawn by weight times squared distance, also after others were chosen", "[assign]") {
  // On a line: D^2 to the centre 0 first, then to the nearer of it and the row chosen.
  Matrix<double> x(5, 1);
  const std::vector<double> at{1, 2, 4, 8, 8.5}, weights{3, 2, 1, 0.5, 0};
  std::copy(at.begin(), at.end(), x.data());
  std::map<std::pair<index_t, index_t>, int> seen;
  const auto first_draws = GENERATE(1U, 16U);  // of the first batch
  constexpr int times = 40000;
  for (int t = 0; t < times; ++t) {
    std::vector<double> squared;
    for (const double a : at) squared.push_back(a * a);
    const Choosing how{1, 2, 0, Philox{static_cast<std::uint64_t>(t), 1}, 4 * first_draws};
    const SeedRows chosen = choose(1, Rows(x.cview()), squared, weights, how);
    REQUIRE(chosen.rows.size() == 2);
    ++seen[{chosen.rows[0], chosen.rows[1]}];
  }
  for (index_t a = 0; a < 5; ++a)
    for (index_t b = 0; b < 5; ++b) {
      const auto share = [&](index_t i, bool second) {
        const auto of = [&](index_t r) {
          const auto row = static_cast<std::size_t>(r);
          const double far = at[row] - at[static_cast<std::size_t>(a)];
          return weights[row] * (second ? std::min(at[row] * at[row], far * far) : at[row] * at[row]);
        };
        double sum = 0;
        for (index_t r = 0; r < 5; ++r) sum += of(r);
        return of(i) / sum;
      };
      const double expected = times * share(a, false) * share(b, true);
      CHECK(std::abs(seen[{a, b}] - expected) <= 5 * std::sqrt(expected));
    }
}

TEST_CASE("potentials in whole numbers of a unit have sums below 2^62", "[assign]") {
  for (const double most : {1e-200, 0.7, 1.0, 3e38}) {
    constexpr index_t rows = 1000;
    const PotentialUnit unit(most, rows);
    CHECK(static_cast<double>(unit.units(1, most)) * rows < 0x1p62);
    CHECK(unit.value(unit.units(1, most)) == Approx(most).epsilon(test::allowed::six_digits));
  }
  CHECK(static_cast<double>(PotentialUnit(1, 1000).units(1, 1)) * 1000 > 0x1p59);
  CHECK(PotentialUnit(0, 3).units(1, 0) == 0);
}

TEST_CASE("choices do not depend on threads, lower squared distances, and end when nothing is left", "[assign]") {
  const Matrix<float> x = some_rows<float>(20000, 12, 3);
  const Rows rows(x.cview());
  const std::vector<double> first(20000, 1e6);
  std::vector<double> one = first, two = first;
  const Choosing how{7, 150, 0, Philox{3, 1}, 7};
  const SeedRows chosen = choose(1, rows, one, {}, how), again = choose(2, rows, two, {}, how);
  CHECK(chosen.rows == again.rows);
  CHECK(chosen.rows.size() == 150);
  CHECK(chosen.left == again.left);
  CHECK(one == two);
  for (const index_t row : chosen.rows) CHECK(one[static_cast<std::size_t>(row)] == 0);
  double left = 0;
  for (const double squared : one) left += squared;
  CHECK(chosen.left == Approx(left).epsilon(test::allowed::six_digits));

  std::vector<double> before = first;
  index_t told = 0;
  Choosing loud = how;
  loud.report = [&](index_t count) { told = count; };
  CHECK(choose(1, rows, before, {}, loud).rows == chosen.rows);
  CHECK(told == 150);

  const auto few = Matrix<float>::zeros(30, 2);
  std::vector<double> of_few(30, 1.0);
  CHECK(choose(1, Rows(few.cview()), of_few, {}, {4, 20, 0, Philox{3, 1}, 4}).rows.size() == 1);
  CHECK(std::all_of(of_few.begin(), of_few.end(), [](double squared) { return squared == 0; }));
}
