#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"

#include "tallskinny/tests/solvers/eigen/problems.hpp"

using solvers::Precision;

namespace {

EigenOptions options_for(index_t nev, Which which, Precision precision, double tol) {
  return EigenOptions{.nev = nev, .which = which, .tol = tol, .method = Method::lanczos, .precision = precision};
}

template <class T>
EigenResult<T> solve_narrow(const CsrMatrix<T>& a, const EigenOptions& options) {
  const auto narrow = narrow_of(a);
  auto problem = problem_of(a);
  problem.narrow = solvers::CsrOperator<narrow_t<T>>(narrow.view());
  return solve(problem, options);
}

/// The largest error of an eigenvalue in units of its error bound; infinite for another number of values.
template <class T>
double worst_error(const EigenResult<T>& r, const std::vector<double>& exact) {
  if (r.values.size() != exact.size()) return INFINITY;
  std::vector<std::size_t> order(exact.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return r.values[a] < r.values[b]; });
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    worst = std::max(worst, std::abs(r.values[order[i]] - exact[i]) / r.error_bounds[order[i]]);
  return worst;
}

}  // namespace

TEST_CASE("mixed precision is right and verified on degenerate problems, to tolerances of float64", "[long]") {
  double tol = 1e-8;
  for (const auto& p : degenerate_problems()) {
    if (p.target) continue;
    tol = tol == 1e-8 ? 1e-11 : 1e-8;
    CAPTURE(p.name, tol);
    std::visit(
        [&](const auto& a) {
          const auto r = solve_narrow(a, options_for(p.nev, p.which, Precision::mixed, tol));
          CAPTURE(r.reason, r.narrow_applications, r.operator_applications);
          CHECK(r.verified);
          CHECK(r.narrow_applications > 0);
          CHECK(worst_error(r, p.exact()) <= 1);
          for (const double residual : r.residual_norms) CHECK(residual <= tol * r.norm);
          CHECK(r.orthogonality_loss < allowed::long_sum);
        },
        p.matrix);
  }
}

TEST_CASE("the last block step allowed ends the search, also where a few more would do", "[short]") {
  // Once it went on for ever, without a step, where the set had converged when the steps were used up.
  const auto a = generators::laplacian({1000}, generators::Boundary::ring);
  for (const index_t steps : {20, 60, 80, 100, 120, 200, 600})
    for (const auto precision : {Precision::mixed, Precision::float32}) {
      CAPTURE(steps);
      auto options = options_for(10, Which::LA, precision, precision == Precision::mixed ? 1e-8 : 1e-5);
      options.max_iterations = steps;
      const auto r = solve_narrow(a, options);
      CHECK(r.iterations <= steps + 8);
      CHECK(r.history.size() < 2000);
    }
}

TEST_CASE("float32 is right to its error bounds, and in doubt where the gap is too narrow for it", "[long]") {
  for (const auto& p : degenerate_problems()) {
    if (p.target) continue;
    CAPTURE(p.name);
    std::visit(
        [&](const auto& a) {
          const auto r = solve_narrow(a, options_for(p.nev, p.which, Precision::float32, 1e-5));
          CAPTURE(r.reason, r.narrow_applications, r.operator_applications, r.gap, r.norm);
          CHECK(r.converged);
          CHECK(r.narrow_applications > 0);
          if (r.gap > allowed::four_digits * r.norm) CHECK(r.verified);
          if (r.verified) CHECK(worst_error(r, p.exact()) <= 1);
          for (const double residual : r.residual_norms) CHECK(residual <= allowed::single * r.norm);
        },
        p.matrix);
  }
}

TEST_CASE("what float32 cannot tell apart is left to float64", "[short]") {
  // The two largest are one number in float32.
  std::vector<double> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 2000) / 4000;
  values[1234] = 1 + 1e-9, values[77] = 1;
  const auto a = diagonal(values);
  check(solve_narrow(a, options_for(1, Which::LA, Precision::mixed, 1e-12)), {values[1234]}, allowed::long_sum);
  const auto single = solve_narrow(a, options_for(1, Which::LA, Precision::float32, 1e-5));
  CHECK(single.converged);
  CHECK_FALSE(single.verified);
  CHECK(single.stop == solvers::StopReason::not_verified);
  CHECK(mentions(single.reason, "`precision` mixed"));
  CHECK(solve_narrow(a, options_for(2, Which::LA, Precision::float32, 1e-5)).verified);
}

TEST_CASE("an operator in float32 that is another one is no evidence", "[short]") {
  std::vector<double> values(5000);
  std::iota(values.begin(), values.end(), 1.0);
  const auto a = diagonal(values);
  auto other = narrow_of(a);
  other.values[4999] = 0;  // hides the largest
  auto problem = problem_of(a);
  problem.narrow = solvers::CsrOperator<float>(other.view());
  const auto mixed = solve(problem, options_for(4, Which::LA, Precision::mixed, 1e-9));
  CHECK(mixed.verified);
  CHECK(worst_error(mixed, {4997, 4998, 4999, 5000}) <= 1);
  CHECK_FALSE(solve(problem, options_for(4, Which::LA, Precision::float32, 1e-5)).verified);
}

TEST_CASE("evidence holds while rounding is small beside the gap", "[short]") {
  const solvers::Evidence found{solvers::Verification::start_block, {1, 2, 3}, 0.16};
  const std::vector<double> near = {1.009, 2, 2.991}, far = {1, 2.011, 3}, fewer = {1, 2};
  CHECK(found.holds_for(near));
  CHECK_FALSE(found.holds_for(far));
  CHECK_FALSE(found.holds_for(fewer));
  CHECK_FALSE(solvers::Evidence{}.holds_for(std::vector<double>{}));
}

TEST_CASE("tiny matrices in less precision, every end", "[short]") {
  const auto precision = GENERATE(Precision::mixed, Precision::float32);
  const double tol = precision == Precision::mixed ? 1e-10 : 1e-5;
  for (index_t n = 1; n <= 9; ++n)
    for (index_t nev = 1; nev <= n + 1; ++nev)
      for (const auto which : {Which::LA, Which::SA, Which::LM, Which::BE}) {
        CAPTURE(n, nev, static_cast<int>(which));
        const auto r = solve_narrow(generators::laplacian({n}), options_for(nev, which, precision, tol));
        CAPTURE(r.reason);
        CHECK(r.verified);
        CHECK(worst_error(r, wanted(generators::laplacian_spectrum({n}), which, nev)) <= 1);
      }
}

TEST_CASE("a filter found in float32 goes on in float64", "[short]") {
  auto options = options_for(14, Which::SA, Precision::mixed, 1e-9);
  options.method = Method::chebyshev;
  const auto r = solve_narrow(generators::laplacian({16, 16, 16}), options);
  CHECK(r.verified);
  CHECK(r.filter_degree >= 5);
  CHECK(r.narrow_applications > 0);
  CHECK(r.operator_applications > r.narrow_applications);
  CHECK(worst_error(r, generators::laplacian_spectrum({16, 16, 16}).smallest(14)) <= 1);
  for (std::size_t i = 1; i < r.history.size(); ++i)
    CHECK(r.history[i].operator_applications >= r.history[i - 1].operator_applications);
}

TEST_CASE("where float32 stalls, or its vectors are no help, mixed costs little more than float64", "[short]") {
  std::vector<double> close(1500);  // six clusters that float32 sees as one number each
  for (std::size_t i = 0; i < close.size(); ++i)
    close[i] = static_cast<double>(i % 6) + 4e-9 * static_cast<double>(i / 6);
  const auto stalls = diagonal(close);
  std::sort(close.begin(), close.end());
  auto options = options_for(12, Which::LA, Precision::mixed, 1e-9);
  options.max_iterations = 2000;
  const auto r = solve_narrow(stalls, options);
  INFO(r.reason);
  CHECK(r.verified);
  CHECK(r.narrow_applications < 200 * 8);
  CHECK(worst_error(r, {close.end() - 12, close.end()}) <= 1);

  const auto ring = generators::flux_ring(160, 0.3);  // a block that is as wide as the set converges slowly there
  options = options_for(9, Which::LM, Precision::mixed, 1e-10);
  options.block_size = 1;
  const auto both = solve_narrow(ring, options);
  options.precision = Precision::float64;
  const auto alone = solve_narrow(ring, options);
  INFO(both.reason);
  CHECK(alone.verified);
  CHECK(both.verified);
  CHECK(both.operator_applications < 4 * alone.operator_applications);
}

TEST_CASE("a run in less precision that ends early says so", "[short]") {
  const auto a = generators::laplacian({30, 30});
  for (const auto precision : {Precision::float32, Precision::mixed}) {
    auto options = options_for(10, Which::SA, precision, 1e-5);
    options.max_iterations = 6;
    CHECK(solve_narrow(a, options).stop == solvers::StopReason::max_iterations);
    options.max_iterations = 0, options.stop = [] { return true; };
    const auto r = solve_narrow(a, options);
    CHECK(r.stop == solvers::StopReason::interrupted);
    CHECK_FALSE(r.verified);
  }
}

TEST_CASE("what less precision does not go with is refused by name", "[short]") {
  const auto a = generators::laplacian({40, 40});
  const auto mixed = options_for(4, Which::LA, Precision::mixed, 1e-8);
  const auto run = [&](const EigenOptions& options, const solvers::Checkpointing<double>& c = {}) {
    return message_of([&] { (void)solvers::solve_eigen<double>(Context{}, problem_of(a), options, {}, c); });
  };
  CHECK(mentions(run(mixed), "float32 as well"));
  CHECK(mentions(run(options_for(4, Which::LA, Precision::float32, 1e-8)), "`precision` mixed"));
  auto davidson = mixed;
  davidson.method = Method::davidson;
  CHECK(mentions(run(davidson), "Davidson"));
  CHECK(mentions(run(mixed, {.write = [](const solvers::SavedState<double>&) {}}), "checkpoint"));
}
