#include "tallskinny/gemm/assign/scores/integer_scores.hpp"

#include "tallskinny/tests/gemm/assign/host_rows.hpp"

using namespace ts;
using namespace ts::test;

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
    Context ctx;
    ctx.simd = simd;
    const Outcome found = run(ctx, Rows(x.cview()), c.cview(), Scores::int16);
    CHECK(found.labels == run(reference(), Rows(x.cview()), c.cview()).labels);
    CHECK(found.stats.rescored < 3 * n / 4);
    CHECK(run(ctx, Rows(points<float>(n, d).cview()), c.cview(), Scores::int16).stats.rescored < n / 20);
  }
}
