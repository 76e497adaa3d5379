#include "tallskinny/tests/solvers/eigen/hermitian/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// Near a target: by products with the inverse and counts of eigenvalues.
EigenProblem<double> beside(const CsrMatrix<double>& a, double target) {
  auto problem = problem_of(a);
  const solvers::ShiftInvert<double> inverse(a.view(), target);
  problem.target = target, problem.inverse = inverse, problem.shift = inverse.sigma();
  problem.count_below = solvers::InertiaCounter<double>(a.view(), 0);
  return problem;
}

/// kron(I_copies, S), S symmetric m x m with random elements.
CsrMatrix<double> copies_of_random(index_t copies, index_t m) {
  return csr_by_rows<double>(copies * m, copies * m, [&](index_t i, auto add) {
    for (index_t j = 0; j < m; ++j) {
      const index_t p = std::min(i % m, j), q = std::max(i % m, j);
      const double wave = 43758.5453 * std::sin(12.9898 * static_cast<double>(p * m + q + 1));
      add(i / m * m + j, wave - std::floor(wave) - 0.5);
    }
  });
}

/// The Laplacian of a star: n once, 1 n - 2 times, 0 once.
CsrMatrix<double> star(index_t n) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (index_t j = 0; j < n; ++j) {
    a.indices.push_back(static_cast<std::int32_t>(j));
    a.values.push_back(j == 0 ? static_cast<double>(n - 1) : -1);
  }
  a.pointers.push_back(n);
  for (index_t i = 1; i < n; ++i) {
    a.indices.insert(a.indices.end(), {0, static_cast<std::int32_t>(i)});
    a.values.insert(a.values.end(), {-1, 1});
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

}  // namespace

TEST_CASE("the nearest above or below a target do not go on at the other end of the spectrum") {
  for (const index_t n : {60, 300}) {  // solved as a whole, and by a search
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    const auto a = diagonal(values);
    struct Case {
      double target;
      Which which;
      std::vector<double> wanted;
    };
    const std::vector<Case> cases = {{2.5, Which::SA, {2, 1}},
                                     {2.5, Which::LA, {3, 4, 5, 6}},
                                     {2.5, Which::BE, {1, 2, 3, 4}},
                                     {1.5, Which::BE, {1, 2, 3}},
                                     {static_cast<double>(n) + 0.5, Which::LA, {}},
                                     {0.5, Which::SA, {}}};
    for (const auto& c : cases) {
      CAPTURE(n, c.target, static_cast<int>(c.which));
      const auto r = solvers::solve_eigen<double>(Context{}, beside(a, c.target), options_for(4, c.which));
      INFO(r.reason);
      CHECK(r.verified);
      REQUIRE(r.values.size() == c.wanted.size());
      for (std::size_t i = 0; i < c.wanted.size(); ++i)
        CHECK(r.values[i] == Approx(c.wanted[i]).epsilon(allowed::nine_digits));
      if (c.wanted.size() < 4 && !c.wanted.empty()) CHECK(mentions(r.reason, "4 were asked for, and only"));
    }
  }
}

TEST_CASE("copies that the end of the set cuts off are told as at least so many") {
  std::vector<double> values(400, 7.0);  // 45 copies of 7 above others
  for (std::size_t i = 45; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  const auto a = diagonal(values);
  for (const index_t nev : {9, 45}) {
    const auto r = solvers::solve_eigen<double>(Context{}, problem_of(a), options_for(nev, Which::LA));
    CAPTURE(nev, r.reason);
    CHECK(r.verified);
    CHECK(r.cut_off == (nev == 9 ? 9 : 0));
    CHECK((mentions(r.reason, "at least 9 copies, cut off by `nev`")) == (nev == 9));
  }
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
      const auto r = solvers::solve_eigen<double>(Context{}, problem, options);
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
    const auto r = solvers::solve_eigen<double>(Context{}, problem, options);
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
  const auto all = solvers::solve_eigen<double>(Context{}, problem_of(copies), options_for(432, Which::LA));
  const auto r = solvers::solve_eigen<double>(Context{}, problem_of(copies), options);
  INFO(r.reason);
  CHECK(r.verified);
  REQUIRE(r.values.size() == 15);
  for (std::size_t i = 0; i < 15; ++i) CHECK(std::abs(r.values[i] - all.values[i]) < allowed::tight_run);

  // Beside an eigenvalue with 8^3 others around, so near that the inverse sees nothing else.
  const auto lap = generators::laplacian({8, 8, 8});
  auto exact = generators::laplacian_spectrum({8, 8, 8}).all();
  for (const double target : {6.0, 6.0 + 1e-9}) {
    CAPTURE(target);
    const auto near = solvers::solve_eigen<double>(Context{}, beside(lap, target), options_for(33, Which::SM));
    INFO(near.reason);
    CHECK(near.verified);
    std::sort(exact.begin(), exact.end(),
              [target](double a, double b) { return std::abs(a - target) < std::abs(b - target); });
    REQUIRE(near.values.size() == 33);
    for (std::size_t i = 0; i < 33; ++i)
      CHECK(std::abs(std::abs(near.values[i] - target) - std::abs(exact[i] - target)) < allowed::default_run);
  }
}

TEST_CASE("residuals of long rows and bounds are no smaller than they are") {
  const index_t n = 20000;
  const auto a = star(n);
  auto options = options_for(2, Which::LA);
  const auto r = solvers::solve_eigen<double>(Context{}, problem_of(a), options);
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
      const auto whole = solvers::solve_eigen<double>(
          Context{}, problem_of(cube), options_for(method == Method::dense ? cube.rows : 10, Which::SA, method));
      REQUIRE(whole.verified);
      for (std::size_t i = 0; i < whole.values.size(); ++i)
        CHECK(std::abs(whole.values[i] - all[i]) <= whole.error_bounds[i]);
    }
  }
}
