#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/tests/solvers/eigen/device_runs.hpp"

TEST_CASE("on a GPU a Krylov basis starts from the processor's random block", "[device][sanitize][gpu]") {
  const Context ctx = device_context();
  const InBothPlaces<double> a(ctx, generators::laplacian({17, 13, 9}));
  solvers::KrylovFactorisation<double> here(Context{}, solvers::CsrOperator<double>(a.here.view()), 40, 3),
      basis(ctx, a.op(), 40, 3);
  for (auto* each : {&here, &basis}) {
    each->start(HostView<const double>{}, 5);
    each->expand(), each->expand();
  }
  REQUIRE(basis.size() == 10);
  const double bound = 1e3 * test::eps<double> * here.norm();
  for (index_t i = 0; i < 10; ++i)
    for (index_t j = 0; j < 10; ++j) CHECK(std::abs(basis.h()(i, j) - here.h()(i, j)) < bound);

  basis.expand(), thick_restart(basis, ritz_of(basis), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14});  // F moves onto itself
  here.expand(), thick_restart(here, ritz_of(here), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14});
  basis.expand(), here.expand();
  const auto values = ritz_of(basis).values, expected = ritz_of(here).values;
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::abs(values[i] - expected[i]) < bound);
}

TEST_CASE("on a GPU degenerate problems have the processor's answers", "[device][gpu]") {
  compare(generators::laplacian_copies(8, 100), fine_options(16, Which::SA, Method::lanczos));
  compare(generators::laplacian({20, 20, 20}), fine_options(20, Which::SA, Method::lanczos));
  compare(generators::laplacian({1000}, generators::Boundary::ring), fine_options(10, Which::LA, Method::lanczos));
  compare(generators::flux_ring(1000, 0.3), fine_options(10, Which::SA, Method::lanczos));
  // A Chebyshev polynomial stands for the matrix.
  compare(generators::laplacian({30, 30, 30}), fine_options(20, Which::SA, Method::chebyshev));
  compare(generators::graphene(60, 60), fine_options(13, Which::LA, Method::chebyshev));  // no diagonal
}

TEST_CASE("what a run of Lanczos ends with is among what is prepared", "[device][cuda]") {
  const Context ctx = typical_context();
  for (const auto precision : {solvers::Precision::float64, solvers::Precision::float32, solvers::Precision::mixed}) {
    auto& kernels = ctx.stream.rehearsal()->kernels;
    kernels.clear();
    const auto plan = solvers::plan_eigen(8000, sizeof(double), {.nev = 11, .precision = precision}, 0);
    solvers::prepare_lanczos<double>(ctx, 8000, 54400, plan, precision);
    const auto has = [&](const std::string& family, const cuda::Defines& defines) {
      return std::any_of(kernels.begin(), kernels.end(), [&](const cuda::KernelPlan& k) {
        return k.family == family && cuda::has_defines(k, defines);
      });
    };
    CHECK(has("residual_rows", {{"type", "0"}, {"index_bytes", "4"}, {"split", "1"}}));
    CHECK(has("column_norms", {{"type", "0"}, {"columns", "11"}}));
    CHECK(has("spmm_rows", {{"type", "0"}, {"q", "11"}}));
  }
}

TEST_CASE("on a GPU vectors that nobody asked for change nothing else", "[device][gpu]") {
  const Context ctx = device_context();
  const InBothPlaces<double> a(ctx, generators::laplacian({20, 20, 20}));
  auto o = options_for(6, Which::SA);
  const auto with = solvers::solve_eigen<double>(ctx, {a.op()}, o);
  o.vectors = false;
  const auto without = solvers::solve_eigen<double>(ctx, {a.op()}, o);
  CHECK(with.vectors.cols() == 6);
  CHECK(without.vectors.cols() == 0);
  CHECK(without.vectors.rows() == 8000);
  CHECK(without.verified);
  CHECK(without.values == with.values);
  CHECK(without.residual_norms == with.residual_norms);
  CHECK(without.error_bounds == with.error_bounds);
}

TEST_CASE("on a GPU a basis that spills gives the processor's answers", "[device][gpu]") {
  const Context ctx = device_context();
  const InBothPlaces<double> a(ctx, generators::laplacian({30, 30, 30}));
  auto o = fine_options(20, Which::SA);
  o.spills = true;
  const auto r = solvers::solve_eigen<double>(ctx, {a.op()}, o), again = solvers::solve_eigen<double>(ctx, {a.op()}, o);
  check(r, generators::laplacian_spectrum({30, 30, 30}).smallest(20), allowed::default_run * r.norm);
  CHECK(r.orthogonality_loss < allowed::long_sum);
  CHECK(r.values == again.values);
}

TEST_CASE("on a GPU less precision finds the processor's set", "[device][gpu]") {
  const Context ctx = device_context();
  const InBothPlaces<double> a(ctx, generators::laplacian({30, 30, 30}));
  const InBothPlaces<float> narrow(ctx, narrow_of(a.here));
  EigenProblem<double> problem{a.op()};
  problem.narrow = narrow.op();
  const auto exact = generators::laplacian_spectrum({30, 30, 30}).smallest(20);
  for (const auto precision : {solvers::Precision::float32, solvers::Precision::mixed}) {
    auto o = fine_options(20, Which::SA);
    if (precision == solvers::Precision::float32) o.tol = 1e-5;
    o.precision = precision;
    const auto r = solvers::solve_eigen<double>(ctx, problem, o), again = solvers::solve_eigen<double>(ctx, problem, o);
    CAPTURE(r.reason, r.narrow_applications, r.operator_applications);
    CHECK(r.verified);
    CHECK(r.narrow_applications > 0);
    CHECK(r.values == again.values);
    REQUIRE(r.values.size() == exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) CHECK(std::abs(r.values[i] - exact[i]) <= r.error_bounds[i]);
  }
}

TEST_CASE("on a GPU a dense matrix is solved by blocks", "[device][gpu]") {
  const index_t n = 700;
  auto a = Matrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) a(i, i) = static_cast<double>(i / 3);
  const Context ctx = device_context();
  DeviceMatrix<double> there(ctx.stream, n, n);
  copy(ctx.stream, there.view(), a.cview());
  const solvers::Operator<double> op = solvers::DenseOperator<double>(a.cview(), there.cview());
  const auto r = solvers::solve_eigen<double>(ctx, {op}, fine_options(7, Which::LA, Method::lanczos));
  check(r, {233, 232, 232, 232, 231, 231, 231}, allowed::run_of_norm_100);
}
