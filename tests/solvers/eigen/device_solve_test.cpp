#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/tests/solvers/eigen/device_runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("on a GPU a Krylov basis starts from the processor's random block", "[device][sanitize][gpu]") {
  const auto a = generators::laplacian({17, 13, 9});
  const Context ctx = device_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  solvers::KrylovFactorisation<double> here(Context{}, solvers::CsrOperator<double>(a.view()), 40, 3),
      basis(ctx, solvers::CsrOperator<double>(a.view(), there.view()), 40, 3);
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
  compare(generators::laplacian_copies(8, 100), Which::SA, 16);
  compare(generators::laplacian({20, 20, 20}), Which::SA, 20);
  compare(generators::laplacian({1000}, generators::Boundary::ring), Which::LA, 10);
  compare(generators::flux_ring(1000, 0.3), Which::SA, 10);
}

TEST_CASE("what a run of Lanczos ends with is among what is prepared", "[device][cuda]") {
  const Context ctx = rehearsing_context(cuda::typical_device("sm_90a"));
  for (const auto precision : {solvers::Precision::float64, solvers::Precision::float32, solvers::Precision::mixed}) {
    auto& kernels = ctx.stream.rehearsal()->kernels;
    kernels.clear();
    solvers::EigenOptions options{.nev = 11, .precision = precision};
    solvers::prepare_lanczos<double>(ctx, 8000, 54400, solvers::plan_eigen(8000, sizeof(double), options, 0),
                                     precision);
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
  const auto a = generators::laplacian({20, 20, 20});
  const Context ctx = device_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view(), there.view())};
  solvers::EigenOptions o{.nev = 6, .which = Which::SA};
  const auto with = solvers::solve_eigen<double>(ctx, problem, o);
  o.vectors = false;
  const auto without = solvers::solve_eigen<double>(ctx, problem, o);
  CHECK(with.vectors.cols() == 6);
  CHECK(without.vectors.cols() == 0);
  CHECK(without.vectors.rows() == 8000);
  CHECK(without.verified);
  CHECK(without.values == with.values);
  CHECK(without.residual_norms == with.residual_norms);
  CHECK(without.error_bounds == with.error_bounds);
}

TEST_CASE("on a GPU a basis that spills gives the processor's answers", "[device][gpu]") {
  const auto a = generators::laplacian({30, 30, 30});
  const Context ctx = device_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  solvers::EigenOptions o{.nev = 20, .which = Which::SA, .tol = 1e-9, .spills = true};
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view(), there.view())};
  const auto r = solvers::solve_eigen<double>(ctx, problem, o);
  const auto again = solvers::solve_eigen<double>(ctx, problem, o);
  CAPTURE(r.reason);
  CHECK(r.verified);
  CHECK(r.orthogonality_loss < allowed::long_sum);
  const auto exact = generators::laplacian_spectrum({30, 30, 30}).smallest(20);
  REQUIRE(r.values.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(std::abs(r.values[i] - exact[i]) < allowed::default_run * r.norm);
  CHECK(r.values == again.values);
}

TEST_CASE("on a GPU a Chebyshev polynomial stands for the matrix", "[device][gpu]") {
  compare(generators::laplacian({30, 30, 30}), Which::SA, 20, solvers::Method::chebyshev);
  compare(generators::graphene(60, 60), Which::LA, 13, solvers::Method::chebyshev);  // no diagonal
}

TEST_CASE("on a GPU less precision finds the processor's set", "[device][gpu]") {
  const auto a = generators::laplacian({30, 30, 30});
  CsrMatrix<float> narrow{a.rows, a.cols, a.pointers, a.indices, {a.values.begin(), a.values.end()}};
  const Context ctx = device_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  const DeviceCsrMatrix<float> narrow_there(ctx.stream, narrow.view());
  solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view(), there.view())};
  problem.narrow = solvers::CsrOperator<float>(narrow.view(), narrow_there.view());
  const auto exact = generators::laplacian_spectrum({30, 30, 30}).smallest(20);
  for (const auto precision : {solvers::Precision::float32, solvers::Precision::mixed}) {
    solvers::EigenOptions o{.nev = 20,
                            .which = Which::SA,
                            .tol = precision == solvers::Precision::mixed ? 1e-9 : 1e-5,
                            .precision = precision};
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
  const auto r = solve<double>(ctx, solvers::DenseOperator<double>(a.cview(), there.cview()), Which::LA, 7);
  CHECK(r.verified);
  REQUIRE(r.values.size() == 7);
  for (std::size_t i = 0; i < 7; ++i)
    CHECK(std::abs(r.values[i] - a(n - 1 - static_cast<index_t>(i), n - 1 - static_cast<index_t>(i))) <
          allowed::run_of_norm_100);
}
