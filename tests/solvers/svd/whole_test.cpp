#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/solvers/svd/known.hpp"

using namespace ts;
using solvers::SvdStage;

// By the squares where they tell all that is wanted, and by LAPACK from the matrix itself where they do not.
TEMPLATE_TEST_CASE("many singular values of a dense matrix that is not tall", "", double, std::complex<double>) {
  using T = TestType;
  const index_t least = 140, k = GENERATE(index_t{140}, index_t{30});
  const bool flat = GENERATE(true, false), wide = GENERATE(true, false);
  CAPTURE(k, flat, wide);
  std::vector<double> sigma;
  for (index_t j = 0; j < least; ++j) {
    const double share = static_cast<double>(j) / static_cast<double>(least);
    sigma.push_back(flat ? 3 - 2 * share : std::pow(10, -9 * share));
  }
  const auto a =
      wide ? test::with_singular_values<T>(least, 170, sigma) : test::with_singular_values<T>(170, least, sigma);
  solvers::EigenOptions o{.nev = k};
  Context one, three;
  one.threads = 1, three.threads = 3;
  const solvers::SvdProblem<T> problem{solvers::rectangular<T>(a.cview()), a.cview()};
  const auto r = solvers::solve_svd<T>(one, problem, o), again = solvers::solve_svd<T>(three, problem, o);
  CHECK(r.stage == SvdStage::whole);
  CHECK(r.triplets.values == again.triplets.values);
  CHECK(std::equal(r.left.data(), r.left.data() + r.left.rows() * r.left.cols(), again.left.data()));
  sigma.resize(static_cast<std::size_t>(k));
  test::check(r, sigma, test::allowed::many_steps);
  for (const double residual : r.triplets.residual_norms) CHECK(residual <= test::allowed::many_steps);
}
