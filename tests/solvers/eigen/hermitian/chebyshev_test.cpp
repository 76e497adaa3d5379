#include "tallskinny/solvers/eigen/hermitian/chebyshev.hpp"
#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"

#include "tallskinny/tests/solvers/eigen/problems.hpp"

namespace {

/// The operator without what it knows of itself.
struct Bare {
  solvers::Operator<double> a;
  [[nodiscard]] index_t rows() const { return a.rows(); }
  void apply(const Context& ctx, HostView<const double> x, HostView<double> y) const { a.apply(ctx, x, y); }
};

/// Chebyshev's polynomial of degree 7, within [-1, 1] and beyond.
double polynomial_7(double s) { return std::abs(s) <= 1 ? std::cos(7 * std::acos(s)) : std::cosh(7 * std::acosh(s)); }

}  // namespace

TEST_CASE("the recurrence gives Chebyshev's polynomials, and their inverse the eigenvalue") {
  const auto a = generators::laplacian({50});
  const auto lambda = generators::laplacian_spectrum({50}).smallest(50);
  const auto t = solvers::chebyshev_transform(0.5, 4.0, 7);
  const solvers::ChebyshevFilter<double> filter(solvers::CsrOperator<double>(a.view()), t);
  for (const index_t j : {0, 3, 20, 49}) {
    Matrix<double> x(50, 1), y(50, 1);  // an eigenvector: sin(i (j + 1) pi / 51)
    for (index_t i = 0; i < 50; ++i) x(i, 0) = std::sin(static_cast<double>((i + 1) * (j + 1)) * std::acos(-1.0) / 51);
    filter.apply(Context{}, x.cview(), y.view());
    const double s = (lambda[static_cast<std::size_t>(j)] - t.centre) / t.half_width;
    const double nu = polynomial_7(s);
    for (index_t i = 0; i < 50; ++i) CHECK(std::abs(y(i, 0) - nu * x(i, 0)) < allowed::many_steps * std::max(1.0, nu));
    if (s > 1) CHECK(t.eigenvalue(nu) == Approx(lambda[static_cast<std::size_t>(j)]));
  }
  CHECK(t.eigenvalue(0.3) == Approx(0.5));  // damped values are not told apart
}

TEST_CASE("the last polynomial is left in the result, wherever its rows lie") {
  const auto a = generators::laplacian({50});
  const solvers::Operator<double> op = solvers::CsrOperator<double>(a.view());
  Matrix<double> x(50, 3);
  solvers::fill_random<double>(Context{}, 1, 2, x.view());
  for (const index_t degree : {1, 2, 5, 6}) {
    const solvers::ChebyshevFilter<double> filter(op, solvers::chebyshev_transform(0.5, 4.0, degree));
    Matrix<double> y(50, 3);
    auto gaps = Matrix<double>::zeros(50, 8);
    filter.apply(Context{}, x.cview(), y.view());
    filter.apply(Context{}, x.cview(), gaps.view().cols(2, 3));
    for (index_t i = 0; i < 50; ++i) {
      for (index_t j = 0; j < 3; ++j) CHECK(gaps(i, j + 2) == y(i, j));
      CHECK((gaps(i, 1) == 0 && gaps(i, 5) == 0));
    }
  }
}

TEST_CASE("residuals carried over from the polynomial bound those of the matrix") {
  const auto t = solvers::chebyshev_transform(1.0, 12.0, 7);
  const double nu = 30, largest = 60;
  const double bound = t.residual_of_a(nu, 1e-6, largest);
  // One error component at a time: e_j = r / (nu - nu_j), purified, weighs |lambda_j - lambda|.
  for (double lambda = t.eigenvalue(largest); lambda < 12; lambda += 0.01) {
    const double nu_j = polynomial_7((lambda - t.centre) / t.half_width);
    if (std::abs(nu_j - nu) < 1e-3) continue;
    const double error = 1e-6 / std::abs(nu - nu_j) * std::abs(nu_j) / nu;
    CHECK(std::abs(lambda - t.eigenvalue(nu)) * error <= bound);
  }
  CHECK(std::isinf(t.residual_of_a(0.5, 1e-6, largest)));
}

TEST_CASE("a filter is taken where it pays") {
  CHECK_FALSE(solvers::choose_filter(1.0, 1.0, 12.0, 63));
  CHECK_FALSE(solvers::choose_filter(0.0, 6.0, 12.0, 63));  // the wanted end is far from the rest: Lanczos is quick
  const auto t = solvers::choose_filter(0.05, 0.9, 12.0, 63);
  REQUIRE(t);
  CHECK(t->degree % 2 == 1);
  CHECK(t->eigenvalue(1.0) == Approx(0.9));
}

TEST_CASE("the filtered iteration finds what the plain one finds") {
  for (const auto which : {Which::SA, Which::LA}) {
    const auto a = generators::laplacian({16, 16, 16});
    const bool told = GENERATE(true, false);
    auto problem = problem_of(a);
    if (!told) problem.a = Bare{problem.a};
    const auto r = solve(problem, options_for(14, which, Method::chebyshev));
    CAPTURE(told, static_cast<int>(which));
    CHECK(r.filter_degree >= 5);
    CHECK(r.operator_applications >= r.filter_degree * 8);
    check(r, wanted(generators::laplacian_spectrum({16, 16, 16}), which, 14), allowed::run_of_norm_10);
    for (const double residual : r.residual_norms) CHECK(residual <= allowed::default_run * 12);
  }
  const auto r = solve(generators::flux_ring(900, 0.3), options_for(6, Which::SA, Method::chebyshev));
  CHECK(r.filter_degree > 0);
  check(r, generators::flux_ring_spectrum(900, 0.3).smallest(6), allowed::run_of_norm_10);
}

TEST_CASE("ends that no filter serves go without") {
  const auto a = generators::laplacian({12, 12, 12});
  for (const auto which : {Which::LM, Which::BE}) {
    const auto r = solve(a, options_for(4, which, Method::chebyshev));
    CHECK(r.verified);
    CHECK(r.filter_degree == 0);
  }
}

TEST_CASE("what an operator knows of its spectrum") {
  const auto a = generators::laplacian({20, 20});
  const auto facts = solvers::Operator<double>(solvers::CsrOperator<double>(a.view())).facts();
  CHECK(facts.entries == a.view().nonzeros());
  CHECK(facts.low == 0);
  CHECK(facts.high == 8);
  CHECK(solvers::Operator<double>(Bare{solvers::CsrOperator<double>(a.view())}).facts().entries == -1);
}

TEST_CASE("an end with a condition of 1e10 takes longer polynomials, each chosen by a basis of the one before") {
  const auto r = solve(generators::sakurai(500), options_for(5, Which::SA, Method::chebyshev));
  check(r, generators::sakurai_spectrum(500).smallest(5), allowed::default_run * 16);
  CHECK(r.filter_degree > 63);
  CHECK(r.iterations < 2000);
}

TEST_CASE("a polynomial that lifts the other end of the spectrum too is made anew") {
  std::vector<double> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 2999;
  const auto a = diagonal(values);
  const auto problem = problem_of(a);
  auto options = options_for(6, Which::SA, Method::chebyshev);
  options.max_iterations = 300;
  const auto plan = solvers::plan_eigen(3000, sizeof(double), options, 0, 0);
  EigenResult<double> result;
  const solvers::Checkpointing<double> none;
  const Matrix<double> start(3000, 0);
  solvers::Lanczos<double> run(Context{}, problem, options, plan, PlacedView<const double>(start.cview()), none,
                               result);
  const auto filter = solvers::chebyshev_transform(0.01, 0.8, 21);  // values go on to 1
  solvers::follow(run, solvers::Predecessor{{}, filter, {}});
  const auto found = solvers::run(run);
  CHECK(found.stop == solvers::StopReason::converged);
  const auto x = found.vectors.cview();
  for (index_t j = 0; j < x.cols(); ++j) {
    double rayleigh = 0;
    for (index_t i = 0; i < x.rows(); ++i)
      rayleigh += std::norm(x.template in<Space::host>()(i, j)) * values[static_cast<std::size_t>(i)];
    CHECK(rayleigh < 0.01);
  }
}

TEST_CASE("values of largest magnitude that converge slowly go through a polynomial") {
  const auto r = solve(generators::laplacian({90, 90}), options_for(6, Which::LM));
  CAPTURE(r.reason, r.iterations);
  CHECK(r.filter_degree > 0);
  CHECK(r.iterations < 150);
  check(r, generators::laplacian_spectrum({90, 90}).largest_magnitude(6), allowed::fine_run);
}

TEST_CASE("copies cut off at one of both ends are not told as those of both") {
  const auto r = solve(generators::laplacian({40, 40}), options_for(4, Which::BE));  // cuts a pair at each end
  INFO(r.reason);
  CHECK(r.cut_off == 1);
  CHECK(mentions(r.reason, "of the last eigenvalue there is at least 1 copy"));
}
