#include "tallskinny/solvers/eigen/lobpcg.hpp"

#include "problems.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::Method;
using solvers::Which;

namespace {

template <class T>
solvers::EigenResult<T> solve(const solvers::EigenProblem<T>& problem, index_t nev, Which which, double tol) {
  solvers::EigenOptions o;
  o.nev = nev, o.which = which, o.method = Method::lobpcg, o.tol = tol;
  return solvers::solve_eigen<T>(Context{}, problem, o);
}

template <class T>
void check(const solvers::EigenResult<T>& r, std::vector<double> exact, double tolerance) {
  INFO(r.reason);
  CHECK(r.converged);
  CHECK(r.verified);
  CHECK(r.orthogonality_loss < 1e-12);
  auto values = r.values;
  std::sort(values.begin(), values.end());
  std::sort(exact.begin(), exact.end());
  REQUIRE(values.size() == exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(std::abs(values[i] - exact[i]) <= tolerance);
}

}  // namespace

TEST_CASE("LOBPCG at both ends, with copies, real and complex") {
  const auto cube = generators::laplacian({10, 10, 10});
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(cube.view())};
  check(solve(problem, 7, Which::SA, 1e-8), generators::laplacian_spectrum({10, 10, 10}).smallest(7), 1e-8);
  check(solve(problem, 4, Which::LA, 1e-8), generators::laplacian_spectrum({10, 10, 10}).largest(4), 1e-8);
  const auto flux = generators::flux_ring(300, 0.3);
  check(solve(solvers::EigenProblem<std::complex<double>>{solvers::CsrOperator<std::complex<double>>(
                  flux.view())},
              5, Which::SA, 1e-6),
        generators::flux_ring_spectrum(300, 0.3).smallest(5), 1e-8);
}

TEST_CASE("LOBPCG finds more copies than its block has columns") {
  const auto a = generators::laplacian_copies(32, 30);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(a.view())}, 16, Which::SA, 1e-7),
        generators::laplacian_copies_spectrum(32, 30).smallest(16), 1e-8);
  const auto one = generators::identity(400);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(one.view())}, 3, Which::SA, 1e-8),
        {1, 1, 1}, 1e-12);
}

TEST_CASE("preconditioners: an inverse, and Jacobi on a badly scaled matrix") {
  const auto a = generators::sakurai(400);  // condition 1e9
  solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  problem.preconditioner = solvers::ShiftInvert<double>(a.view(), 0);
  auto r = solve(problem, 4, Which::SA, 1e-12);
  check(r, generators::sakurai_spectrum(400).smallest(4), 1e-10);
  CHECK(r.operator_applications < 600);

  // D + Laplacian with D from 1 to 1e4.
  auto b = generators::laplacian({900});
  std::vector<double> diagonal;
  for (index_t i = 0; i < 900; ++i)
    for (index_t k = b.pointers[static_cast<std::size_t>(i)]; k < b.pointers[static_cast<std::size_t>(i) + 1];
         ++k)
      if (b.indices[static_cast<std::size_t>(k)] == i)
        diagonal.push_back(b.values[static_cast<std::size_t>(k)] +=
                           std::pow(10.0, 4.0 * static_cast<double>(i) / 899));
  const solvers::EigenProblem<double> plain{solvers::CsrOperator<double>(b.view())};
  auto scaled = plain;
  scaled.preconditioner = solvers::Jacobi<double>(diagonal);
  solvers::EigenOptions dense;
  dense.nev = 5, dense.which = Which::SA, dense.method = Method::dense;
  const auto exact = solvers::solve_eigen<double>(Context{}, plain, dense).values;
  const auto with = solve(scaled, 5, Which::SA, 1e-9), without = solve(plain, 5, Which::SA, 1e-9);
  check(with, exact, 1e-8);
  check(without, exact, 1e-8);
  CHECK(2 * with.operator_applications < without.operator_applications);
}

TEST_CASE("LOBPCG: misuse, stops and small matrices") {
  const auto a = generators::laplacian({400});
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  CHECK_THROWS_AS(solve(problem, 3, Which::LM, 1e-8), Error);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(generators::identity(4).view())}, 9,
              Which::SA, 1e-8),
        {1, 1, 1, 1}, 1e-14);
  solvers::EigenOptions o;
  o.nev = 4, o.which = Which::SA, o.method = Method::lobpcg, o.max_iterations = 5;
  const auto r = solvers::solve_eigen<double>(Context{}, problem, o);
  CHECK(r.stop == solvers::StopReason::max_iterations);
  CHECK_FALSE(r.verified);
  CHECK(r.values.size() == 4);
}
