#include "tallskinny/tests/solvers/eigen/problems.hpp"

TEST_CASE("tiny matrices, one to more eigenvalues than there are, every end, both methods") {
  for (index_t n = 0; n <= 10; ++n) {
    const auto a = generators::laplacian({n});
    const auto spectrum = generators::laplacian_spectrum({n});
    for (index_t nev = 1; nev <= n + 2; ++nev)
      for (const auto which : {Which::LA, Which::SA, Which::LM, Which::SM, Which::BE})
        for (const auto method : {Method::automatic, Method::lanczos}) {
          if (method == Method::lanczos && which == Which::SM) continue;
          CAPTURE(n, nev, static_cast<int>(which), static_cast<int>(method));
          check(solve(a, options_for(nev, which, method)), wanted(spectrum, which, nev), allowed::run_of_norm_10);
        }
  }
}

TEST_CASE("zero, scaled and widely spread matrices") {
  const auto zero = solve(diagonal(std::vector<double>(600, 0.0)), options_for(4, Which::LA));
  CHECK(zero.verified);
  CHECK(zero.values == std::vector<double>(4, 0.0));

  for (const double scale : {1e-12, 1e12}) {
    auto a = generators::laplacian({30, 30});
    for (double& v : a.values) v *= scale;
    const auto exact = generators::laplacian_spectrum({30, 30}).largest(6);
    const auto r = solve(a, options_for(6, Which::LA));
    CHECK(r.verified);
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(std::abs(r.values[i] - scale * exact[5 - i]) < allowed::run_of_norm_10 * scale);
  }

  std::vector<double> spread;
  for (int i = 0; i < 700; ++i) spread.push_back(std::pow(10.0, -15 + 30.0 * i / 699));
  const auto wide = solve(diagonal(spread), options_for(5, Which::LA));
  CHECK(wide.verified);
  for (std::size_t i = 0; i < 5; ++i) CHECK(wide.values[i] == Approx(spread[699 - i]));
}

TEST_CASE("residuals relative to eigenvalues near zero stop at rounding, and say so") {
  const auto a = generators::laplacian({400}, generators::Boundary::neumann);  // has the eigenvalue 0
  auto o = options_for(3, Which::LA, Method::lanczos);
  o.convergence = solvers::Convergence::rel;
  CHECK(solve(a, o).verified);
  o.which = Which::BE, o.nev = 2, o.tol = 1e-6;
  const auto r = solve(a, o);
  CHECK(r.verified);
  CHECK(std::abs(r.values[0]) < allowed::many_steps);
  CHECK(mentions(r.reason, "rounding"));
}

TEST_CASE("a pair that differs in the thirteenth digit") {
  const auto r = solve(generators::wilkinson(10), options_for(2, Which::LA, Method::lanczos));
  check(r, {10.746194182903, 10.746194182903}, allowed::conditioned);
  CHECK(r.multiplicities[0] == 2);
}

TEST_CASE("same seed, same bits for any number of threads") {
  const auto a = generators::laplacian({30, 30, 30});  // large enough for threads
  auto o = options_for(5, Which::LA);
  o.seed = 7, o.tol = 1e-5;
  Context one, three;
  one.threads = 1, three.threads = 3;
  const auto r1 = solvers::solve_eigen<double>(one, problem_of(a), o);
  const auto r3 = solvers::solve_eigen<double>(three, problem_of(a), o);
  CHECK(r1.values == r3.values);
  CHECK(r1.residual_norms == r3.residual_norms);
  CHECK(r1.operator_applications == r3.operator_applications);
  CHECK(std::equal(r1.vectors.data(), r1.vectors.data() + 27000 * 5, r3.vectors.data()));
}

TEST_CASE("a run can be stopped, and says how far it came") {
  auto o = options_for(4, Which::SA, Method::lanczos);
  int steps = 0;
  o.stop = [&steps] { return ++steps > 30; };
  const auto r = solve(generators::sakurai(500), o);
  CHECK(r.stop == solvers::StopReason::interrupted);
  CHECK_FALSE(r.verified);
  CHECK(r.values.size() == 4);
}

TEST_CASE("a basis that is too small for restarts is raised, and the log says so") {
  const auto a = generators::laplacian({400});
  auto o = options_for(5, Which::LA, Method::lanczos);
  o.max_basis = 6;
  std::string said;
  Context ctx;
  ctx.log = [&said](std::string_view line) { said += line; };
  CHECK(solvers::solve_eigen<double>(ctx, problem_of(a), o).verified);
  CHECK(said.starts_with("`max_basis` is raised from 6 to 53"));
  o.max_basis = 53, said.clear();
  CHECK(solvers::solve_eigen<double>(ctx, problem_of(a), o).verified);
  CHECK(said.empty());
}

TEST_CASE("misuse and operators that are not finite") {
  const auto a = generators::laplacian({400});
  CHECK_THROWS_AS(solve(a, options_for(0, Which::LA)), Error);
  CHECK_THROWS_AS(solve(a, options_for(5, Which::SM)), Error);
  auto bad = a;
  bad.values[7] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(solve(bad, options_for(5, Which::LA)), Error);
}

TEST_CASE("a shift moved off an eigenvalue: the nearest to the target are found, or nothing is claimed") {
  // One eigenvalue of 1e9 makes the unit in which shifts move larger than the rest of the spectrum.
  std::vector<double> values(186);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(1.7 * static_cast<double>(i));
  values[0] = 1e9;
  const auto a = diagonal(values);
  for (const std::size_t at : {2u, 5u, 100u}) {
    const double sigma = values[at];
    auto problem = beside(a, sigma);
    problem.count_below = nullptr;
    auto options = options_for(6, Which::LM, Method::lanczos);
    options.tol = 1e-10;  // 0.1 in numbers
    const auto r = solve(problem, options);
    INFO(r.reason);
    auto distance = values;
    for (double& v : distance) v = std::abs(v - sigma);
    std::sort(distance.begin(), distance.end());
    CHECK(r.verified);
    for (const double v : r.values) CHECK(std::abs(v - sigma) < distance[5] + 3 * allowed::three_digits);
    // A shift far from the spectrum.
    problem.shift = sigma - 245, problem.inverse = solvers::ShiftInvert<double>(a.view(), sigma - 245);
    options.max_iterations = 2000;  // so that no dense solver takes over
    const auto far = solve(problem, options);
    INFO(far.reason);
    CHECK_FALSE(far.verified);
    CHECK(far.stop == solvers::StopReason::not_verified);
  }
}

TEST_CASE("a target on an eigenvalue, and copies of the farthest wanted one left out") {
  std::vector<double> values;  // four times each, at distances 0, 1, 1, 2, 2, ... from the target
  for (int i = 0; i < 320; ++i) values.push_back(i / 4);
  const auto a = diagonal(values);
  const auto counted = beside(a, 40);
  REQUIRE(counted.shift != 40);
  for (const index_t nev : {2, 5, 11}) {
    auto options = options_for(nev, Which::LM, Method::lanczos);
    options.max_iterations = 2000;
    auto problem = counted;
    problem.count_below = nullptr;
    const auto uncounted = solve(problem, options), r = solve(counted, options);
    CAPTURE(nev, r.reason);
    if (nev == 5) CHECK_FALSE(uncounted.verified);
    CHECK(r.verified);
    REQUIRE(static_cast<index_t>(r.values.size()) == nev);
    CHECK(std::count_if(r.values.begin(), r.values.end(), [](double v) {
            return std::abs(v - 40) < allowed::run_of_norm_100;
          }) == std::min<index_t>(nev, 4));
    for (const double v : r.values) CHECK(std::abs(v - 40) < 1 + allowed::run_of_norm_100);
  }
}

TEST_CASE("a warm start of more columns than the basis has room for") {
  const auto a = generators::laplacian({18, 18});
  Matrix<double> start(324, 324);
  solvers::fill_random<double>(Context{}, 3, 0, start.view());
  const auto options = options_for(4, Which::SA, Method::lanczos);
  check(solvers::solve_eigen<double>(Context{}, problem_of(a), options, start.cview()),
        generators::laplacian_spectrum({18, 18}).smallest(4), allowed::run_of_norm_10);
}
