#include <bit>

#include "tallskinny/tests/solvers/eigen/problems.hpp"

namespace {

/// kron(I_copies, S), S symmetric m x m with random elements.
CsrMatrix<double> copies_of_random(index_t copies, index_t m) {
  return csr_by_rows<double>(copies * m, copies * m, [&](index_t i, auto add) {
    for (index_t j = 0; j < m; ++j) {
      const index_t p = std::min(i % m, j), q = std::max(i % m, j);
      add(i / m * m + j, noise(p * m + q));
    }
  });
}

/// The Laplacian of a star: n once, 1 n - 2 times, 0 once.
CsrMatrix<double> star(index_t n) {
  return csr_by_rows<double>(n, n, [&](index_t i, auto add) {
    add(0, i == 0 ? static_cast<double>(n - 1) : -1);
    for (index_t j = std::max<index_t>(i, 1); j < (i == 0 ? n : i + 1); ++j) add(j, i == 0 ? -1 : 1);
  });
}

}  // namespace

TEST_CASE("the nearest above or below a target do not go on at the other end of the spectrum") {
  for (const index_t n : {60, 300}) {  // solved as a whole, and by a search
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    const auto a = diagonal(values);
    using Values = std::vector<double>;
    for (const auto& [target, which, there] :
         {std::tuple(2.5, Which::SA, Values{2, 1}), std::tuple(2.5, Which::LA, Values{3, 4, 5, 6}),
          std::tuple(2.5, Which::BE, Values{1, 2, 3, 4}), std::tuple(1.5, Which::BE, Values{1, 2, 3}),
          std::tuple(static_cast<double>(n) + 0.5, Which::LA, Values{}), std::tuple(0.5, Which::SA, Values{})}) {
      CAPTURE(n, target, static_cast<int>(which));
      const auto r = solve(beside(a, target), options_for(4, which));
      INFO(r.reason);
      CHECK(r.verified);
      REQUIRE(r.values.size() == there.size());
      for (std::size_t i = 0; i < there.size(); ++i)
        CHECK(r.values[i] == Approx(there[i]).epsilon(allowed::nine_digits));
      if (there.size() < 4 && !there.empty()) CHECK(mentions(r.reason, "4 were asked for, and only"));
    }
  }
}

TEST_CASE("copies that the end of the set cuts off are told as at least so many") {
  std::vector<double> values(400, 7.0);  // 45 copies of 7 above others
  for (std::size_t i = 45; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  const auto a = diagonal(values);
  for (const index_t nev : {9, 45}) {
    const auto r = solve(a, options_for(nev, Which::LA));
    CAPTURE(nev, r.reason);
    CHECK(r.verified);
    CHECK(r.cut_off == (nev == 9 ? 9 : 0));
    CHECK((mentions(r.reason, "at least 9 copies, cut off by `nev`")) == (nev == 9));
  }
}

TEST_CASE("copies are cut off on one side of a target though the other side has none") {
  for (const index_t n : {76, 400}) {  // solved as a whole, and by a search
    const auto a = star(n);
    const auto r = solve(beside(a, -21.8), options_for(9, Which::BE));
    CAPTURE(n, r.reason);
    CHECK(r.verified);
    REQUIRE(r.values.size() == 5);  // 0 and copies of 1 above the target
    CHECK(r.cut_off == 4);
  }
  // Copies at the target count as above it and as below, whatever rounding makes of them.
  const auto a = star(76);
  for (const auto& [target, which] : {std::pair(1 + 4e-15, Which::LA), {1 - 4e-15, Which::SA}}) {
    const auto r = solve(beside(a, target), options_for(4, which));
    INFO(r.reason);
    CHECK(r.verified);
    CHECK(r.cut_off == 4);
  }
}

TEST_CASE("values cut off at equal distances on both sides are told together") {
  std::vector<double> values(64);  // a bipartite graph: each value of a hypercube has its opposite
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 6 - 2.0 * std::popcount(i);
  const auto a = diagonal(values);
  const auto r = solve(a, options_for(20, Which::LM));  // +-6 once, +-4 six times, and 6 of the 30 of +-2
  INFO(r.reason);
  CHECK(r.verified);
  CHECK(r.cut_off == 6);
  const bool both = r.cut_off > r.multiplicities.back();
  CHECK(mentions(r.reason, "as far out as the last, on both sides") == both);
  CHECK(solve(a, options_for(14, Which::LM)).cut_off == 0);
  const auto near = solve(beside(a, 1), options_for(22, Which::LM));  // 20 times 0 and 2 of the 15 of 2
  CHECK(near.cut_off == 22);
}

TEST_CASE("all eigenvalues of a zero matrix are one, whatever the target") {
  const auto a = diagonal(std::vector<double>(400, 0.0));
  CHECK(solve(beside(a, 0), options_for(5, Which::SM)).cut_off == 5);
  CHECK(solve(beside(a, 0), options_for(16, Which::BE)).cut_off == 8);
  for (const double target : {3e-301, -3e-301, 1.0}) {
    const auto r = solve(beside(a, target), options_for(5, Which::LM));
    CAPTURE(target, r.reason);
    CHECK(r.verified);
    CHECK(r.cut_off == 5);
  }
}

TEST_CASE("a gap that residuals do not tell from nothing is told as none") {
  std::vector<double> values(400);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 + (i < 60 ? 1e-11 * static_cast<double>(i) : 1.0);
  auto options = options_for(3, Which::SA, Method::lanczos);
  options.tol = 1e-5;
  const auto r = solve(diagonal(values), options);
  CAPTURE(r.reason, r.gap);
  CHECK(r.verified);
  CHECK(!(r.gap > r.residual_norms.front()));
}

TEST_CASE("with as many copies as columns nothing is told of the next eigenvalue that was not shown") {
  std::vector<double> values(1500, 0.0);  // 65 copies of 0 below others
  for (std::size_t i = 65; i < values.size(); ++i) values[i] = 2 + std::sin(static_cast<double>(i));
  const auto a = diagonal(values);
  for (const bool counts : {false, true}) {
    auto problem = problem_of(a);
    if (counts) problem.count_below = solvers::InertiaCounter<double>(a.view(), 0);
    for (const index_t nev : {1, 8, 20}) {
      auto options = options_for(nev, Which::SA);
      options.block_size = std::min<index_t>(nev, 8);
      const auto r = solve(problem, options);
      CAPTURE(counts, nev, r.reason, r.next_value);
      CHECK(r.verified);
      CHECK(r.cut_off == nev);
      CHECK((std::isnan(r.gap) || r.gap < allowed::default_run));
      CHECK(std::isnan(r.vector_errors.front()));
      CHECK(r.copies_counted == (counts ? 65 : 0));
    }
  }
}

TEST_CASE("how many lie above a target is said from a count, or the search is not complete") {
  std::vector<double> values(356, 1.0);  // 64 times 1, then 2, 5 and 7
  for (std::size_t i = 64; i < values.size(); ++i) values[i] = i < 243 ? 2 : i < 306 ? 5 : 7;
  const auto a = diagonal(values);
  for (const bool counts : {false, true}) {
    auto problem = beside(a, 1 + 7e-12);
    if (!counts) problem.count_below = nullptr;
    auto options = options_for(8, Which::LA);
    options.tol = 1e-4;
    const auto r = solve(problem, options);
    CAPTURE(counts, r.reason);
    CHECK(r.verified);
    REQUIRE(r.values.size() == 8);
    for (const double v : r.values) CHECK(v == Approx(2).epsilon(allowed::four_digits));
  }
}

TEST_CASE("small matrices that a search does not settle are solved as a whole") {
  const auto copies = copies_of_random(36, 12);
  auto options = options_for(15, Which::LA);
  options.block_size = 8;
  auto all = solve(copies, options_for(432, Which::LA)).values;
  all.resize(15);
  check(solve(copies, options), all, allowed::tight_run);

  // Beside an eigenvalue with 8^3 others around, so near that the inverse sees nothing else.
  const auto lap = generators::laplacian({8, 8, 8});
  for (const double target : {6.0, 6.0 + 1e-9}) {
    CAPTURE(target);
    const auto near = solve(beside(lap, target), options_for(33, Which::SM));
    INFO(near.reason);
    CHECK(near.verified);
    auto exact = generators::laplacian_spectrum({8, 8, 8}).nearest(target, 33), found = near.values;
    for (auto* each : {&exact, &found})
      for (double& v : *each) v = std::abs(v - target);  // two may be as near on either side
    check_values(found, exact, allowed::default_run);
  }
}

TEST_CASE("residuals of long rows and bounds are no smaller than they are") {
  const index_t n = 20000;
  const auto a = star(n);
  const auto r = solve(a, options_for(2, Which::LA));
  INFO(r.reason);
  REQUIRE(r.values.size() == 2);
  const double exact[] = {static_cast<double>(n), 1};
  for (index_t j = 0; j < 2; ++j) {
    // ||A x - theta x|| in long double, what is large in the long row last: (n - 1 - theta) x_0 - sum x_i.
    const auto at = static_cast<std::size_t>(j);
    const long double theta = r.values[at], hub = r.vectors(0, j);
    long double leaves = 0, squares = 0;
    for (index_t i = 1; i < n; ++i) {
      const long double x = r.vectors(i, j), d = x - hub - theta * x;
      leaves += x, squares += d * d;
    }
    const long double head = (static_cast<long double>(n - 1) - theta) * hub - leaves;
    squares += head * head;
    CHECK(r.residual_norms[at] == Approx(static_cast<double>(std::sqrt(squares))).epsilon(allowed::three_digits));
    CHECK(std::abs(r.values[at] - exact[j]) <= r.error_bounds[at]);
  }
  for (const int dimension : {7, 9}) {  // both ways to solve it
    const auto cube = generators::hypercube(dimension);
    const auto all = generators::hypercube_spectrum(dimension).all();
    for (const Method method : {Method::dense, Method::automatic}) {
      const auto whole = solve(cube, options_for(method == Method::dense ? cube.rows : 10, Which::SA, method));
      REQUIRE(whole.verified);
      for (std::size_t i = 0; i < whole.values.size(); ++i)
        CHECK(std::abs(whole.values[i] - all[i]) <= whole.error_bounds[i]);
    }
  }
}
