#include "tallskinny/solvers/eigen/hermitian/lobpcg.hpp"

#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/setup/preconditioners.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

namespace {

EigenOptions norm_options(index_t nev, Which which, double tol, Method method = Method::lobpcg) {
  return EigenOptions{
      .nev = nev, .which = which, .tol = tol, .convergence = solvers::Convergence::norm, .method = method};
}

}  // namespace

TEST_CASE("LOBPCG and block Davidson at both ends, with more copies than columns, real and complex") {
  const auto cube = generators::laplacian({10, 10, 10});
  const auto spectrum = generators::laplacian_spectrum({10, 10, 10});
  std::vector<index_t> products;
  for (const auto method : {Method::lobpcg, Method::davidson}) {
    const auto low = solve(cube, norm_options(7, Which::SA, 1e-8, method));
    products.push_back(low.operator_applications);
    check(low, spectrum.smallest(7), allowed::default_run);
    check(solve(cube, norm_options(4, Which::LA, 1e-8, method)), spectrum.largest(4), allowed::default_run);
    check(solve(generators::flux_ring(300, 0.3), norm_options(5, Which::SA, 1e-6, method)),
          generators::flux_ring_spectrum(300, 0.3).smallest(5), allowed::default_run);
    check(solve(generators::laplacian_copies(32, 30), norm_options(16, Which::SA, 1e-7, method)),
          generators::laplacian_copies_spectrum(32, 30).smallest(16), allowed::default_run);
    check(solve(generators::identity(400), norm_options(3, Which::SA, 1e-8, method)), {1, 1, 1}, allowed::many_steps);
  }
  CHECK(products[1] < products[0]);  // a basis that grows finds more from the same products
}

TEST_CASE("preconditioners: an inverse, and Jacobi on a badly scaled matrix") {
  const auto a = generators::sakurai(400);  // condition 1e9
  auto problem = problem_of(a);
  problem.preconditioner = solvers::ShiftInvert<double>(a.view(), 0);
  auto r = solve(problem, norm_options(4, Which::SA, 1e-12));
  check(r, generators::sakurai_spectrum(400).smallest(4), allowed::tight_run);
  CHECK(r.operator_applications < 600);

  // D + Laplacian with D from 1 to 1e4.
  auto b = generators::laplacian({900});
  std::vector<double> diagonal;
  change_entries(b, [&](index_t i, index_t j, double& x) {
    if (i == j) diagonal.push_back(x += std::pow(10.0, 4.0 * static_cast<double>(i) / 899));
  });
  auto scaled = problem_of(b);
  scaled.preconditioner = solvers::jacobi<double>(Context{}, diagonal);
  const auto exact = solve(b, options_for(5, Which::SA, Method::dense)).values;
  const auto options = norm_options(5, Which::SA, 1e-9);
  const auto with = solve(scaled, options), without = solve(b, options);
  check(with, exact, allowed::default_run);
  check(without, exact, allowed::default_run);
  CHECK(2 * with.operator_applications < without.operator_applications);
}

TEST_CASE("incomplete Cholesky and Chebyshev bring a Laplacian's low end sooner") {
  const auto a = generators::laplacian({40, 40});
  const auto exact = generators::laplacian_spectrum({40, 40}).smallest(4);
  for (const auto method : {Method::lobpcg, Method::davidson}) {
    const auto options = norm_options(4, Which::SA, 1e-8, method);
    const auto without = solve(a, options);
    check(without, exact, allowed::default_run);
    auto with = problem_of(a);
    with.preconditioner = solvers::IncompleteCholesky<double>(a.view(), {});
    const auto factored = solve(with, options);
    check(factored, exact, allowed::default_run);
    CHECK(3 * factored.operator_applications < 2 * without.operator_applications);
    with.preconditioner = solvers::ChebyshevInverse<double>(Context{}, with.a, Which::SA);
    const auto filtered = solve(with, options);
    check(filtered, exact, allowed::default_run);
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
      CHECK(skew < allowed::many_steps);
      CHECK(ortho::hermitian_eigen<C>(m.cview()).values.front() > 0);
    }
  }
  // Positive already: taken as it is.
  CHECK(solvers::positive_end(Context{}, {1, 2}, -7, 9, Which::SA).shift == 0);
}

TEST_CASE("LOBPCG: misuse, stops and small matrices") {
  const auto a = generators::laplacian({400});
  CHECK_THROWS_AS(solve(a, norm_options(3, Which::LM, 1e-8)), Error);
  check(solve(generators::identity(4), norm_options(9, Which::SA, 1e-8)), {1, 1, 1, 1}, allowed::short_sum);
  const auto r = solve(a, {.nev = 4, .which = Which::SA, .method = Method::lobpcg, .max_iterations = 5});
  CHECK(r.stop == solvers::StopReason::max_iterations);
  CHECK_FALSE(r.verified);
  CHECK(r.values.size() == 4);
}

TEST_CASE("block Davidson with one column, where copies make it lose directions") {
  for (const index_t copies : {1, 3}) {
    auto options = options_for(6, Which::SA, Method::davidson);
    options.block_size = 1;
    check(solve(generators::laplacian_copies(copies, 40), options),
          generators::laplacian_copies_spectrum(copies, 40).smallest(6), allowed::default_run);
  }
}
