// Largest magnitude through an inverse at each end.
#include "tallskinny/tests/solvers/eigen/hermitian/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// With factorisations, as an assembled problem has them.
EigenProblem<double> factorised(const CsrMatrix<double>& a) {
  auto problem = problem_of(a);
  problem.count_below = solvers::InertiaCounter<double>(a.view(), 0);
  problem.invert = [&a](double sigma) -> std::optional<solvers::ShiftedInverse<double>> {
    const solvers::ShiftInvert<double> inverse(a.view(), sigma);
    return solvers::ShiftedInverse<double>{inverse, inverse.sigma()};
  };
  return problem;
}

/// A + shift I
CsrMatrix<double> plus(CsrMatrix<double> a, double shift) {
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[static_cast<std::size_t>(i)]; e < a.pointers[static_cast<std::size_t>(i) + 1]; ++e)
      if (a.indices[static_cast<std::size_t>(e)] == i) a.values[static_cast<std::size_t>(e)] += shift;
  return a;
}

}  // namespace

TEST_CASE("largest magnitude at one end and at both, each through its own inverse") {
  const index_t n = 1500;
  const auto line = generators::laplacian({n});
  const auto all = generators::laplacian_spectrum({n}).all();
  for (const double shift : {0.0, -4.0, -2.0, -2.0 + 1e-6, -1.9999}) {
    const auto a = plus(line, shift);
    auto exact = all;
    for (double& v : exact) v += shift;
    std::sort(exact.begin(), exact.end(), [](double p, double q) { return std::abs(p) > std::abs(q); });
    const auto r = solvers::solve_eigen<double>(Context{}, factorised(a), options_for(8, Which::LM));
    CAPTURE(shift, r.reason);
    CHECK(r.verified);
    CHECK(r.verification == solvers::Verification::inertia);
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
  const auto spectrum = generators::sakurai_spectrum(1200);
  const auto r = solvers::solve_eigen<double>(Context{}, factorised(a), options_for(7, Which::BE));
  INFO(r.reason);
  CHECK(r.verified);
  auto exact = spectrum.smallest(3);
  const auto high = spectrum.largest(4);
  exact.insert(exact.end(), high.begin(), high.end());
  REQUIRE(r.values.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) CHECK(std::abs(r.values[i] - exact[i]) <= r.error_bounds[i]);
  CHECK(r.operator_applications < 2500);
  CHECK(r.next_value > r.values[2]);
}

TEST_CASE("copies at both ends are all found") {
  const auto sheet = generators::graphene(24, 24);
  const auto r = solvers::solve_eigen<double>(Context{}, factorised(sheet), options_for(14, Which::LM));
  INFO(r.reason);
  CHECK(r.verified);
  auto exact = generators::graphene_spectrum(24, 24).largest_magnitude(14);
  auto values = r.values;
  std::sort(exact.begin(), exact.end()), std::sort(values.begin(), values.end());
  REQUIRE(values.size() == 14);
  for (std::size_t i = 0; i < 14; ++i) CHECK(std::abs(values[i] - exact[i]) < allowed::fine_run);
}

TEST_CASE("largest magnitude without an inverse, with a checkpoint or a method goes on as it began") {
  const auto a = plus(generators::laplacian({700}), -2);
  auto options = options_for(4, Which::LM, Method::lanczos);
  const auto plain = solvers::solve_eigen<double>(Context{}, factorised(a), options);
  CHECK(plain.verified);
  CHECK_FALSE(plain.shift.has_value());
  int steps = 0;
  options.method = Method::automatic, options.stop = [&steps] { return ++steps > 25; };
  const auto stopped = solvers::solve_eigen<double>(Context{}, factorised(a), options);
  CHECK(stopped.stop == solvers::StopReason::interrupted);
  CHECK_FALSE(stopped.verified);
}
