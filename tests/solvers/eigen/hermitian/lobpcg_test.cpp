#include "tallskinny/solvers/eigen/hermitian/lobpcg.hpp"

#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/setup/preconditioners.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::Method;
using solvers::Which;

namespace {

template <class T>
solvers::EigenResult<T> solve(const solvers::EigenProblem<T>& problem, index_t nev, Which which, double tol,
                              Method method = Method::lobpcg) {
  solvers::EigenOptions o{
      .nev = nev, .which = which, .tol = tol, .convergence = solvers::Convergence::norm, .method = method};
  return solvers::solve_eigen<T>(Context{}, problem, o);
}

template <class T>
void check(const solvers::EigenResult<T>& r, std::vector<double> exact, double tolerance) {
  INFO(r.reason);
  CHECK(r.converged);
  CHECK(r.verified);
  CHECK(r.orthogonality_loss < test::allowed::many_steps);
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
  check(solve(problem, 7, Which::SA, 1e-8), generators::laplacian_spectrum({10, 10, 10}).smallest(7),
        test::allowed::default_run);
  check(solve(problem, 4, Which::LA, 1e-8), generators::laplacian_spectrum({10, 10, 10}).largest(4),
        test::allowed::default_run);
  const auto flux = generators::flux_ring(300, 0.3);
  check(solve(solvers::EigenProblem<std::complex<double>>{solvers::CsrOperator<std::complex<double>>(flux.view())}, 5,
              Which::SA, 1e-6),
        generators::flux_ring_spectrum(300, 0.3).smallest(5), test::allowed::default_run);
}

TEST_CASE("LOBPCG finds more copies than its block has columns") {
  const auto a = generators::laplacian_copies(32, 30);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(a.view())}, 16, Which::SA, 1e-7),
        generators::laplacian_copies_spectrum(32, 30).smallest(16), test::allowed::default_run);
  const auto one = generators::identity(400);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(one.view())}, 3, Which::SA, 1e-8), {1, 1, 1},
        test::allowed::many_steps);
}

TEST_CASE("preconditioners: an inverse, and Jacobi on a badly scaled matrix") {
  const auto a = generators::sakurai(400);  // condition 1e9
  solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  problem.preconditioner = solvers::ShiftInvert<double>(a.view(), 0);
  auto r = solve(problem, 4, Which::SA, 1e-12);
  check(r, generators::sakurai_spectrum(400).smallest(4), test::allowed::tight_run);
  CHECK(r.operator_applications < 600);

  // D + Laplacian with D from 1 to 1e4.
  auto b = generators::laplacian({900});
  std::vector<double> diagonal;
  for (index_t i = 0; i < 900; ++i)
    for (index_t k = b.pointers[static_cast<std::size_t>(i)]; k < b.pointers[static_cast<std::size_t>(i) + 1]; ++k)
      if (b.indices[static_cast<std::size_t>(k)] == i)
        diagonal.push_back(b.values[static_cast<std::size_t>(k)] += std::pow(10.0, 4.0 * static_cast<double>(i) / 899));
  const solvers::EigenProblem<double> plain{solvers::CsrOperator<double>(b.view())};
  auto scaled = plain;
  scaled.preconditioner = solvers::jacobi<double>(Context{}, diagonal);
  solvers::EigenOptions dense;
  dense.nev = 5, dense.which = Which::SA, dense.method = Method::dense;
  const auto exact = solvers::solve_eigen<double>(Context{}, plain, dense).values;
  const auto with = solve(scaled, 5, Which::SA, 1e-9), without = solve(plain, 5, Which::SA, 1e-9);
  check(with, exact, test::allowed::default_run);
  check(without, exact, test::allowed::default_run);
  CHECK(2 * with.operator_applications < without.operator_applications);
}

TEST_CASE("block Davidson at both ends, with copies, real and complex") {
  const auto cube = generators::laplacian({10, 10, 10});
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(cube.view())};
  const auto spectrum = generators::laplacian_spectrum({10, 10, 10});
  const auto low = solve(problem, 7, Which::SA, 1e-8, Method::davidson);
  check(low, spectrum.smallest(7), test::allowed::default_run);
  check(solve(problem, 4, Which::LA, 1e-8, Method::davidson), spectrum.largest(4), test::allowed::default_run);
  // A basis that grows finds more from the same products.
  CHECK(low.operator_applications < solve(problem, 7, Which::SA, 1e-8).operator_applications);
  const auto flux = generators::flux_ring(300, 0.3);
  check(solve(solvers::EigenProblem<std::complex<double>>{solvers::CsrOperator<std::complex<double>>(flux.view())}, 5,
              Which::SA, 1e-6, Method::davidson),
        generators::flux_ring_spectrum(300, 0.3).smallest(5), test::allowed::default_run);
  const auto copies = generators::laplacian_copies(32, 30);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(copies.view())}, 16, Which::SA, 1e-7,
              Method::davidson),
        generators::laplacian_copies_spectrum(32, 30).smallest(16), test::allowed::default_run);
  const auto one = generators::identity(400);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(one.view())}, 3, Which::SA, 1e-8,
              Method::davidson),
        {1, 1, 1}, test::allowed::many_steps);
}

TEST_CASE("incomplete Cholesky and Chebyshev bring a Laplacian's low end sooner") {
  const auto a = generators::laplacian({40, 40});
  const auto exact = generators::laplacian_spectrum({40, 40}).smallest(4);
  const solvers::EigenProblem<double> plain{solvers::CsrOperator<double>(a.view())};
  for (const auto method : {Method::lobpcg, Method::davidson}) {
    const auto without = solve(plain, 4, Which::SA, 1e-8, method);
    check(without, exact, test::allowed::default_run);
    auto with = plain;
    with.preconditioner = solvers::IncompleteCholesky<double>(a.view(), {});
    const auto factored = solve(with, 4, Which::SA, 1e-8, method);
    check(factored, exact, test::allowed::default_run);
    CHECK(3 * factored.operator_applications < 2 * without.operator_applications);
    with.preconditioner = solvers::ChebyshevInverse<double>(Context{}, plain.a, Which::SA);
    const auto filtered = solve(with, 4, Which::SA, 1e-8, method);
    check(filtered, exact, test::allowed::default_run);
    CHECK(2 * filtered.iterations < without.iterations);
  }
}

TEST_CASE("preconditioners are Hermitian and positive at both ends of an indefinite matrix") {
  const auto a = generators::flux_ring(60, 0.3);  // zero diagonal, spectrum within [-2, 2]
  using C = std::complex<double>;
  const Context ctx;
  for (const auto which : {Which::SA, Which::LA}) {
    const auto end = solvers::positive_end(Context{}, std::vector<double>(60, 0.0), -2, 2, which);
    CHECK(end.shift == 2);
    CHECK(end.sign == (which == Which::SA ? 1 : -1));
    const solvers::Operator<C> kinds[] = {solvers::IncompleteCholesky<C>(a.view(), end),
                                          solvers::ChebyshevInverse<C>(ctx, solvers::CsrOperator<C>(a.view()), which)};
    for (const auto& kind : kinds) {
      auto unit = Matrix<C>::zeros(60, 60);
      for (index_t i = 0; i < 60; ++i) unit(i, i) = 1;
      Matrix<C> m(60, 60);
      kind.apply(ctx, unit.cview(), m.view());
      double skew = 0;
      for (index_t i = 0; i < 60; ++i)
        for (index_t j = 0; j < 60; ++j) skew = std::max(skew, std::abs(m(i, j) - std::conj(m(j, i))));
      CHECK(skew < test::allowed::many_steps);
      CHECK(ortho::hermitian_eigen<C>(m.cview()).values.front() > 0);
    }
  }
  // Positive already: taken as it is.
  CHECK(solvers::positive_end(Context{}, {1, 2}, -7, 9, Which::SA).shift == 0);
}

TEST_CASE("LOBPCG: misuse, stops and small matrices") {
  const auto a = generators::laplacian({400});
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  CHECK_THROWS_AS(solve(problem, 3, Which::LM, 1e-8), Error);
  check(solve(solvers::EigenProblem<double>{solvers::CsrOperator<double>(generators::identity(4).view())}, 9, Which::SA,
              1e-8),
        {1, 1, 1, 1}, test::allowed::short_sum);
  solvers::EigenOptions o{.nev = 4, .which = Which::SA, .method = Method::lobpcg, .max_iterations = 5};
  const auto r = solvers::solve_eigen<double>(Context{}, problem, o);
  CHECK(r.stop == solvers::StopReason::max_iterations);
  CHECK_FALSE(r.verified);
  CHECK(r.values.size() == 4);
}

TEST_CASE("block Davidson with one column, where copies make it lose directions") {
  for (const index_t copies : {1, 3}) {
    const auto a = generators::laplacian_copies(copies, 40);
    const auto exact = generators::laplacian_copies_spectrum(copies, 40).smallest(6);
    solvers::EigenOptions o{.nev = 6, .which = Which::SA, .method = Method::davidson, .block_size = 1};
    const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
    const auto r = solvers::solve_eigen<double>(Context{}, problem, o);
    INFO(r.reason);
    CHECK(r.verified);
    REQUIRE(r.values.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) CHECK(std::abs(r.values[i] - exact[i]) < test::allowed::default_run);
  }
}
