// What completeness costs, and that the cheap way does not see less.
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using solvers::Verification;
using solvers::Which;

namespace {

solvers::EigenResult<double> solve(const CsrMatrix<double>& a, Which which, index_t nev, double tol, index_t block = 0,
                                   std::uint64_t seed = 0) {
  solvers::EigenOptions o;
  o.nev = nev, o.which = which, o.tol = tol, o.block_size = block, o.seed = seed;
  o.method = solvers::Method::lanczos, o.convergence = solvers::Convergence::norm;
  return solvers::solve_eigen<double>(Context{}, {solvers::CsrOperator<double>(a.view())}, o);
}

}  // namespace

TEST_CASE("where the block has columns to spare, verification costs at most 15 % of the columns") {
  const auto check = [](const CsrMatrix<double>& a, Which which, index_t nev, double tol) {
    const auto r = solve(a, which, nev, tol);
    CAPTURE(r.operator_applications, r.verification_applications);
    CHECK(r.verified);
    CHECK(r.verification == Verification::start_block);
    CHECK(static_cast<double>(r.verification_applications) <= 0.15 * static_cast<double>(r.operator_applications));
  };
  for (const double tol : {1e-6, 1e-10}) {
    check(generators::laplacian({20, 20, 20}), Which::SA, 20, tol);
    check(generators::laplacian({1000}, generators::Boundary::ring), Which::LA, 10, tol);
    check(generators::graphene(24, 24), Which::LA, 13, tol);
  }
}

TEST_CASE("a value with as many copies as the block has columns is sought from a fresh block") {
  const auto r = solve(generators::laplacian_copies(4, 150), Which::SA, 8, 1e-8, 4);
  CHECK(r.verified);
  CHECK(r.verification == Verification::random_block);
  CHECK(r.verification_rounds >= 1);
  CHECK(r.multiplicities == std::vector<index_t>(8, 4));
}

TEST_CASE("zeros in many copies converge to rounding and are called complete at a bearable price") {
  const auto a = generators::laplacian_copies(40, 30, generators::Boundary::neumann);
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  solvers::EigenOptions o;
  o.which = Which::SA, o.nev = 6;
  const auto small = solvers::solve_eigen<double>(Context{}, problem, o);
  o.convergence = solvers::Convergence::norm;
  const auto against_norm = solvers::solve_eigen<double>(Context{}, problem, o);
  CAPTURE(small.reason, against_norm.operator_applications);
  CHECK(small.verified);
  CHECK(small.reason.find("below the rounding of the matrix product") != std::string::npos);
  CHECK(small.operator_applications < 3 * against_norm.operator_applications);
  for (const double v : small.values) CHECK(std::abs(v) < test::allowed::many_steps);
}

TEST_CASE("copies beyond a narrow block are found or not called complete") {
  for (const index_t block : {1, 2, 3, 5})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      CAPTURE(block, seed);
      const auto r = solve(generators::hypercube(9), Which::SA, 30, 1e-6, block, seed);
      const auto exact = generators::hypercube_spectrum(9).smallest(30);
      REQUIRE(r.values.size() == 30);
      if (!r.verified) continue;
      for (std::size_t i = 0; i < 30; ++i) CHECK(std::abs(r.values[i] - exact[i]) < test::allowed::single);
    }
}

TEST_CASE("a warm start is not taken for a random block") {
  const auto a = generators::laplacian({14, 14, 14});
  solvers::EigenOptions o;
  o.nev = 7, o.which = Which::SA, o.method = solvers::Method::lanczos;
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  const auto first = solvers::solve_eigen<double>(Context{}, problem, o);
  Matrix<double> start(a.rows, 8);  // lacks the second of three copies
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t j = 0; j < 8; ++j) start(i, j) = j == 7 ? 1.0 : first.vectors(i, j == 2 ? 0 : j);
  const auto r = solvers::solve_eigen<double>(Context{}, problem, o, start.cview());
  CHECK(r.verified);
  CHECK(r.verification != Verification::start_block);
  const auto exact = generators::laplacian_spectrum({14, 14, 14}).smallest(7);
  for (std::size_t i = 0; i < 7; ++i) CHECK(std::abs(r.values[i] - exact[i]) < test::allowed::run_of_norm_10);
}
