// Cost of completeness checks, and that the cheap one misses nothing that the dear one sees.
#include "tallskinny/solvers/eigen/hermitian/sides.hpp"
#include "tallskinny/solvers/eigen/hermitian/wanted.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

using namespace ts::solvers;

namespace {

EigenOptions block_options(Which which, index_t nev, double tol, index_t block = 0, std::uint64_t seed = 0) {
  return EigenOptions{.nev = nev,
                      .which = which,
                      .tol = tol,
                      .convergence = Convergence::norm,
                      .method = Method::lanczos,
                      .block_size = block,
                      .seed = seed};
}

/// Ritz values 0, 1, 3, 6 and 10, of which one at each end is wanted.
WantedPairs<double> pairs() {
  WantedPairs<double> p{.which = Which::BE, .ends = {1, 1}};
  p.ritz.values = {0, 1, 3, 6, 10}, p.ritz.residuals = {0, 0.25, 0, 0, 0.5};
  p.next_low = 1, p.next_high = 6;
  return p;
}

/// A + shift I
CsrMatrix<double> plus(CsrMatrix<double> a, double shift) {
  change_entries(a, [shift](index_t i, index_t j, double& x) { x += i == j ? shift : 0; });
  return a;
}

}  // namespace

TEST_CASE("where the block has columns to spare, verification costs at most 15 % of the columns") {
  const auto check_share = [](const CsrMatrix<double>& a, const EigenOptions& options) {
    const auto r = solve(a, options);
    CAPTURE(r.operator_applications, r.verification_applications);
    CHECK(r.verified);
    CHECK(r.verification == Verification::start_block);
    CHECK(static_cast<double>(r.verification_applications) <= 0.15 * static_cast<double>(r.operator_applications));
  };
  for (const double tol : {1e-6, 1e-10}) {
    check_share(generators::laplacian({20, 20, 20}), block_options(Which::SA, 20, tol));
    check_share(generators::laplacian({1000}, generators::Boundary::ring), block_options(Which::LA, 10, tol));
    check_share(generators::graphene(24, 24), block_options(Which::LA, 13, tol));
  }
}

TEST_CASE("a value with as many copies as the block has columns is sought from a fresh block") {
  const auto r = solve(generators::laplacian_copies(4, 150), block_options(Which::SA, 8, 1e-8, 4));
  CHECK(r.verified);
  CHECK(r.verification == Verification::random_block);
  CHECK(r.verification_rounds >= 1);
  CHECK(r.multiplicities == std::vector<index_t>(8, 4));
}

TEST_CASE("zeros in many copies converge to rounding and are called complete at a bearable price") {
  const auto a = generators::laplacian_copies(40, 30, generators::Boundary::neumann);
  auto o = options_for(6, Which::SA);
  const auto small = solve(a, o);
  o.convergence = Convergence::norm;
  const auto against_norm = solve(a, o);
  CAPTURE(small.reason, against_norm.operator_applications);
  CHECK(small.verified);
  CHECK(mentions(small.reason, "below the rounding of the matrix product"));
  CHECK(small.operator_applications < 3 * against_norm.operator_applications);
  for (const double v : small.values) CHECK(std::abs(v) < allowed::many_steps);
}

TEST_CASE("copies beyond a narrow block are found or not called complete") {
  for (const index_t block : {1, 2, 3, 5})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      CAPTURE(block, seed);
      const auto r = solve(generators::hypercube(9), block_options(Which::SA, 30, 1e-6, block, seed));
      REQUIRE(r.values.size() == 30);
      if (r.verified) check_values(r.values, generators::hypercube_spectrum(9).smallest(30), allowed::single);
    }
}

TEST_CASE("a warm start is not taken for a random block") {
  const auto a = generators::laplacian({14, 14, 14});
  const auto o = options_for(7, Which::SA, Method::lanczos);
  const auto first = solve(a, o);
  Matrix<double> start(a.rows, 8);  // lacks the second of three copies
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t j = 0; j < 8; ++j) start(i, j) = j == 7 ? 1.0 : first.vectors(i, j == 2 ? 0 : j);
  const auto r = solve_eigen<double>(Context{}, problem_of(a), o, start.cview());
  check(r, generators::laplacian_spectrum({14, 14, 14}).smallest(7), allowed::run_of_norm_10);
  CHECK(r.verification != Verification::start_block);
}

using Indices = std::vector<index_t>;

TEST_CASE("with a target, LA, SA and BE ask for its sides, and LM for what is nearest") {
  const auto with = [](Which which) { return EigenOptions{.which = which}; };
  for (const Which which : {Which::LA, Which::SA, Which::BE}) {
    CHECK(seeks_sides(with(which), 1.0));
    CHECK_FALSE(seeks_sides(with(which), {}));
    CHECK_FALSE(seeks_nearest(with(which), 1.0));
  }
  CHECK(seeks_nearest(with(Which::LM), 1.0));
  CHECK_FALSE(seeks_nearest(with(Which::LM), {}));
  CHECK(seeks_nearest(with(Which::SM), {}));
  CHECK(sides_of(Which::LA, 5).high == 5);
  CHECK(sides_of(Which::SA, 5).low == 5);
  CHECK((sides_of(Which::BE, 5).low == 2 && sides_of(Which::BE, 5).high == 3));
}

TEST_CASE("the nearest values on each side of a target, which itself is taken once") {
  const std::vector<double> rising = {-3, -1, 0, 0, 2, 5};
  CHECK(nearest_on_sides(rising, 0.5, {2, 1}, 0) == Indices{2, 3, 4});
  CHECK(nearest_on_sides(rising, 0, {0, 3}, 0.1) == Indices{2, 3, 4});
  CHECK(nearest_on_sides(rising, 0, {3, 0}, 0.1) == Indices{1, 2, 3});
  CHECK(nearest_on_sides(rising, 0, {1, 1}, 0.1) == Indices{1, 2});
  CHECK(nearest_on_sides(rising, 4, {1, 9}, 0) == Indices{4, 5});  // no more lie there
}

TEST_CASE("only a prefix of each end counts as converged") {
  CHECK(converged_in({0.5, 2, 0.5, 1, 1.5}, {3, 2}) == 2);
  CHECK(converged_in({2, 0, 0}, {0, 3}) == 0);
  CHECK(converged_in({1, 1}, {1, 1}) == 2);
}

TEST_CASE("what the wanted pairs leave outside") {
  const auto p = pairs();
  const SpectralTransform none;
  CHECK(p.has_outside());
  CHECK(p.first_low() == 1);
  CHECK(p.first_high() == 3);
  CHECK(p.indices() == std::vector<index_t>{0, 4});
  CHECK(wanted_values(p, none) == std::vector<double>{0, 10});
  CHECK(clearance_of(p, none, 100) == 1);  // from 0 to 1; from 10 to 6 it is farther
  CHECK(next_outside(p, none) == 1);
  CHECK(clearance_of(p, none, 2) == std::numeric_limits<double>::infinity());  // the set is all of them
}

TEST_CASE("copies of the threshold are as near as its residual allows") {
  CHECK(slack_of(pairs(), 0) == 0.5);       // r, as 10 r^2 / gap is larger
  CHECK(slack_of(pairs(), 0.125) == 12.5);  // 100 roundings
}

TEST_CASE("no search is evidence of what nothing random was in, or of nothing outside") {
  const double inf = std::numeric_limits<double>::infinity();
  auto p = pairs();
  CHECK(search_shortfall(p, Acceptance{}, 0, 0) == inf);
  p.ends = {2, 3};
  CHECK(search_shortfall(p, Acceptance{}, 4, 0) == inf);
}

// Largest magnitude through an inverse at each end.

TEST_CASE("largest magnitude at one end and at both, each through its own inverse") {
  const index_t n = 1500;
  const auto line = generators::laplacian({n});
  const auto all = generators::laplacian_spectrum({n}).all();
  for (const double shift : {0.0, -4.0, -2.0, -2.0 + 1e-6, -1.9999}) {
    const auto a = plus(line, shift);
    auto exact = all;
    for (double& v : exact) v += shift;
    std::sort(exact.begin(), exact.end(), [](double p, double q) { return std::abs(p) > std::abs(q); });
    const auto r = solve(factorised(a), options_for(8, Which::LM));
    CAPTURE(shift, r.reason);
    CHECK(r.verified);
    CHECK(r.verification == Verification::inertia);
    REQUIRE(r.values.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(std::abs(std::abs(r.values[i]) - std::abs(exact[i])) < allowed::tight_run);
      CHECK(std::abs(r.values[i] - exact[i]) <= (shift == -2 ? 5 : r.error_bounds[i]));  // +v and -v are a tie
    }
    CHECK(r.shift.has_value());
    const bool both = shift < -1 && shift > -3;
    CHECK(r.high_shift.has_value() == both);
    CHECK(r.operator_applications < 2500);
    CHECK(r.orthogonality_loss < allowed::many_steps);
  }
}

TEST_CASE("both ends, of which one converges slowly") {
  const auto a = generators::sakurai(1200);  // condition 1e11
  const auto r = solve(factorised(a), options_for(7, Which::BE));
  INFO(r.reason);
  CHECK(r.verified);
  const auto exact = wanted(generators::sakurai_spectrum(1200), Which::BE, 7);
  REQUIRE(r.values.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) CHECK(std::abs(r.values[i] - exact[i]) <= r.error_bounds[i]);
  CHECK(r.operator_applications < 2500);
  CHECK(r.next_value > r.values[2]);
}

TEST_CASE("copies at both ends are all found") {
  const auto sheet = generators::graphene(24, 24);
  check(solve(factorised(sheet), options_for(14, Which::LM)),
        generators::graphene_spectrum(24, 24).largest_magnitude(14), allowed::fine_run);
}

TEST_CASE("largest magnitude without an inverse, with a checkpoint or a method goes on as it began") {
  const auto a = plus(generators::laplacian({700}), -2);
  auto options = options_for(4, Which::LM, Method::lanczos);
  const auto plain = solve(factorised(a), options);
  CHECK(plain.verified);
  CHECK_FALSE(plain.shift.has_value());
  int steps = 0;
  options.method = Method::automatic, options.stop = [&steps] { return ++steps > 5; };
  const auto stopped = solve(factorised(a), options);
  CHECK(stopped.stop == solvers::StopReason::interrupted);
  CHECK_FALSE(stopped.verified);
}

TEST_CASE("copies that a fresh block brings into a full basis converge") {
  const auto a = generators::laplacian({13, 13, 13});  // values of up to 6 copies
  auto options = options_for(20, Which::SA, Method::chebyshev);
  options.block_size = 4, options.max_iterations = 300;
  const auto r = solve(a, options);
  CAPTURE(r.reason, r.iterations, r.verification_rounds);
  CHECK(r.verified);
  CHECK(r.verification_rounds > 1);
  check(r, generators::laplacian_spectrum({13, 13, 13}).smallest(20), allowed::default_run);
}
