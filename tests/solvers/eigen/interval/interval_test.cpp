#include "tallskinny/solvers/eigen/interval/interval.hpp"

#include "tallskinny/solvers/eigen/interval/brackets.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

using solvers::CountBelow;
using solvers::Interval;
using solvers::Verification;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
EigenResult<T> solve_within(const EigenProblem<T>& problem, Interval i, index_t max_iterations = 0) {
  return solvers::solve_interval<T>(Context{}, problem, {.max_iterations = max_iterations}, i);
}

/// Those of a rising list within [low, high], which must not be nearer than 1e-6 to others.
std::vector<double> within(const std::vector<double>& all, Interval i) {
  std::vector<double> inside;
  for (const double v : all)
    if (v >= i.low - allowed::run_of_norm_100 && v <= i.high + allowed::run_of_norm_100) inside.push_back(v);
  return inside;
}

template <class T>
void check_inside(const EigenResult<T>& r, const std::vector<double>& exact, double tolerance = allowed::default_run) {
  check(r, exact, tolerance);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CAPTURE(r.values[i] - exact[i], r.error_bounds[i], r.norm, r.residual_norms[i]);
    CHECK(std::abs(r.values[i] - exact[i]) <= r.error_bounds[i]);
  }
}

}  // namespace

TEST_CASE("all eigenvalues of an interval are counted") {
  const auto a = generators::laplacian({24, 24});
  const auto all = generators::laplacian_spectrum({24, 24}).all();
  for (const Interval i : {Interval{1, 1.5}, {3.9, 4.1}, {-infinity, 0.5}, {7.5, infinity}, {7.98, 100}, {-5, 0.1}}) {
    CAPTURE(i.low, i.high);
    const auto r = solve_within(factorised(a), i);
    check_inside(r, within(all, i));
    CHECK(r.verification == Verification::inertia);
  }
  for (const Interval i : {Interval{1, 1.2}, {-infinity, 0.5}, {7.5, infinity}}) {
    CAPTURE(i.low, i.high);
    const auto r = solve_within(problem_of(a), i, 600);  // without a factorisation nothing is called proved
    check_inside(r, within(all, i), allowed::run_of_norm_10);
    CHECK(r.verification != Verification::inertia);
    CHECK(mentions(r.reason, "no proof"));
  }
  const auto ring = generators::flux_ring(600, 0.3);
  const auto r = solve_within(factorised(ring), {-0.05, 0.05});
  check_inside(r, within(generators::flux_ring_spectrum(600, 0.3).all(), {-0.05, 0.05}));
  CHECK(r.verification == Verification::inertia);
}

TEST_CASE("eigenvalues exactly at the ends, with many copies") {
  const auto a = generators::hypercube(10);  // 2 k with C(10, k) copies
  const auto all = generators::hypercube_spectrum(10).all();
  for (const Interval i : {Interval{0, 2}, {2, 2}, {2, 4}, {16, 20}, {-infinity, 2}}) {  // 18 lies in the middle
    CAPTURE(i.low, i.high);
    const auto r = solve_within(factorised(a), i);
    check_inside(r, within(all, i));
    CHECK(r.verification == Verification::inertia);
    CHECK(mentions(r.reason, "end of the interval"));
  }
}

TEST_CASE("intervals without eigenvalues") {
  const auto a = generators::clement(400);  // odd integers
  for (const Interval i : {Interval{1.1, 2.9}, {2, 2}, {400, 500}, {-infinity, -400}}) {
    CAPTURE(i.low, i.high);
    const auto r = solve_within(factorised(a), i);
    CHECK(r.values.empty());
    CHECK(r.verified);
    CHECK(r.verification == Verification::inertia);
  }
  check_inside(solve_within(factorised(a), {-3 + 1e-7, 3 - 1e-7}), {-1, 1}, allowed::run_of_norm_100);
}

TEST_CASE("more eigenvalues than one slice takes, and small matrices") {
  const auto a = generators::laplacian({1500});
  const auto r = solve_within(factorised(a), {1, 1.5});
  check_inside(r, within(generators::laplacian_spectrum({1500}).all(), {1, 1.5}));
  CHECK(r.values.size() > 100);
  CHECK(r.verification == Verification::inertia);

  const auto small = generators::clement(20);
  const auto s = solve_within(factorised(small), {-3, 5});
  check_inside(s, {-3, -1, 1, 3, 5});
  CHECK(s.verification == Verification::all_computed);
  CHECK_THROWS_AS(solve_within(factorised(small), {1, 0}), Error);
}

TEST_CASE("all of a multiplet is in an interval or none, ends closed") {
  CsrMatrix<double> zero{400, 400, std::vector<index_t>(401, 0), {}, {}};
  auto r = solve_within(factorised(zero), {0, 100});
  INFO(r.reason);
  CHECK(r.verified);
  CHECK(r.values.size() == 400);

  auto cube = generators::hypercube(9);  // the Laplacian: 0, 2, .., 18; the adjacency has 9 minus that
  change_entries(cube, [](index_t i, index_t j, double& x) { x = i == j ? 0 : -x; });
  r = solve_within(factorised(cube), {1, 3});
  INFO(r.reason);
  CHECK(r.verified);
  CHECK(r.values.size() == 126 + 84);  // 9 over 4, 9 over 3

  const auto line = generators::laplacian({300});
  r = solve_within(factorised(line), {0, 1e300});  // an end far beyond the spectrum is no harm
  INFO(r.reason);
  CHECK(r.verified);
  CHECK(r.values.size() == 300);
}

TEST_CASE("intervals of matrices whose rows differ by many orders hold what Sturm sequences count") {
  for (const index_t n : {150, 700}) {  // as a whole, and by slices
    const auto graded = graded_tridiagonal(n, 4);
    for (const double low : {1e-6, 1e-4, 1e-2}) {
      CAPTURE(n, low);
      const auto r = solve_within(factorised(graded.matrix), {low, 2 * low});
      INFO(r.reason);
      CHECK(r.verified);
      REQUIRE(static_cast<index_t>(r.values.size()) == graded.below(2 * low) - graded.below(low));
      index_t number = graded.below(low);
      for (std::size_t i = 0; i < r.values.size(); ++i, ++number) {
        CHECK(r.error_bounds[i] <= allowed::default_run * low);
        CHECK(graded.below(r.values[i] - 2 * r.error_bounds[i]) <= number);
        CHECK(graded.below(r.values[i] + 2 * r.error_bounds[i]) > number);
        CHECK(r.multiplicities[i] == 1);
      }
    }
  }
}

TEST_CASE("a matrix that is solved as a whole is counted at ends that its residuals reach, and nowhere else") {
  const auto cube = generators::hypercube(7);  // 2 k with C(7, k) copies
  auto problem = factorised(cube);
  const auto whole = solve_within(problem, {2, 5});
  CHECK(whole.verified);
  CHECK(whole.values.size() == 7 + 21);
  index_t counts = 0;
  problem.count_below = [&counts](double, double) {
    ++counts;
    return std::optional<index_t>(3);  // contradicts what is found
  };
  CHECK(solve_within(problem, {2, 5}).verified);
  CHECK(counts == 0);
  // The largest value is 14: rounding of that reaches farther than what these ends ask for.
  CHECK_FALSE(solve_within(problem, {-1e-9, 1e-9}).verified);
  CHECK(counts > 0);
}

TEST_CASE("brackets around eigenvalues, from counts") {
  const std::vector<double> values = {1, 2, 2, 2 + 1e-13, 5};
  const CountBelow count = [&](double shift, double) -> std::optional<index_t> {
    if (std::abs(shift - 2) < 1e-12) return std::nullopt;  // as rounding does not tell
    return std::lower_bound(values.begin(), values.end(), shift) - values.begin();
  };
  CHECK(solvers::count_around(3, 1e-14, count)->low.below == 4);
  const auto at_two = solvers::count_around(2, 1e-14, count);
  REQUIRE(at_two);
  CHECK((at_two->low.below == 1 && at_two->high.below == 4));
  for (const std::vector<double>& guesses : {std::vector<double>{}, {1, 2, 5}, {0.3, 4.9}}) {
    const auto found = solvers::bracket_eigenvalues({0, 0}, {8, 5}, guesses, {1e-10, 0}, count);
    REQUIRE(found);
    REQUIRE(found->size() == 3);
    const double exact[] = {1, 2, 5};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& bracket = (*found)[i];
      CHECK((bracket.low <= exact[i] && exact[i] <= bracket.high));
      CHECK(bracket.high - bracket.low <= allowed::fine_run);
      CHECK(bracket.copies == (i == 1 ? 3 : 1));
    }
  }
  const CountBelow nonsense = [](double, double) { return std::optional<index_t>(9); };
  CHECK_FALSE(solvers::bracket_eigenvalues({0, 0}, {8, 5}, {}, {1e-10, 0}, nonsense));
}
