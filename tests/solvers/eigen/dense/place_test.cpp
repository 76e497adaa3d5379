// Solvers that decompose the whole matrix where it is at home: verified results, and whose they are.
#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/solvers/svd/known.hpp"
#include "tallskinny/tests/support/device.hpp"

using solvers::AnyMatrix, solvers::DenseTask;
using Complex = std::complex<double>;

namespace {

template <class T>
std::string expected_on_device(DenseTask task, index_t n) {
  return solvers::dense_solver<T>(device_stream(), Space::device, task)->by(task, n, n);
}

/// All pairs and three, on the device and here.
template <class T>
void compare(const AnyMatrix<T>& a, index_t n) {
  const Context ctx = device_context();
  const auto there = solvers::copy_to<T>(ctx.stream, a);
  for (const index_t k : {n, index_t{3}}) {
    const auto o = options_for(k, Which::SA, Method::dense);
    const auto r = solvers::solve_eigen<T>(ctx, {solvers::operator_of<T>(a, there)}, o),
               again = solvers::solve_eigen<T>(ctx, {solvers::operator_of<T>(a, there)}, o),
               here = solvers::solve_eigen<T>(Context{}, {solvers::operator_of<T>(a)}, o);
    CAPTURE(n, k, r.reason);
    CHECK(r.verified);
    CHECK(r.decomposed_by == expected_on_device<T>(DenseTask::hermitian, n));
    CHECK(r.orthogonality_loss < allowed::many_steps);
    CHECK(r.values == again.values);
    REQUIRE(r.values.size() == here.values.size());
    for (std::size_t i = 0; i < here.values.size(); ++i) {
      CHECK(std::abs(r.values[i] - here.values[i]) < allowed::many_steps * here.norm);
      CHECK(r.residual_norms[i] < allowed::many_steps * here.norm);
    }
    CHECK(r.multiplicities == here.multiplicities);
  }
}

}  // namespace

TEST_CASE("on a GPU all pairs and few pairs of a Hermitian matrix, dense and sparse", "[gpu]") {
  compare<double>(generators::laplacian({7, 6, 8}), 336);
  compare<Complex>(generators::flux_ring(320, 0.3), 320);
  compare<double>(AnyMatrix<double>(dense_of(generators::laplacian({20, 16}))), 320);
}

TEST_CASE("on a GPU the whole spectrum of a matrix that is not Hermitian", "[gpu]") {
  const Context ctx = device_context();
  const AnyMatrix<double> a = generators::circulant(300, {0.5, 1, 0, -0.3});
  const auto there = solvers::copy_to<double>(ctx.stream, a);
  for (const index_t k : {index_t{300}, index_t{4}}) {
    solvers::GeneralOptions o;
    o.common.nev = k, o.common.method = solvers::Method::dense;
    const auto r = solvers::solve_general<double>(ctx, {solvers::operator_of<double>(a, there)}, o),
               here = solvers::solve_general<double>(Context{}, {solvers::operator_of<double>(a)}, o);
    CAPTURE(k, r.reason);
    CHECK(r.verified);
    CHECK(r.decomposed_by == expected_on_device<double>(DenseTask::general, 300));
    REQUIRE(r.values.size() == here.values.size());
    for (std::size_t i = 0; i < r.values.size(); ++i) {
      CHECK(std::abs(std::abs(r.values[i]) - std::abs(here.values[i])) < allowed::many_steps * here.norm);
      CHECK(std::abs(r.conditions[i] - 1) < allowed::tight_run);  // it is normal
    }
  }
}

TEMPLATE_TEST_CASE("on a GPU all singular values of a dense matrix", "[gpu]", double, Complex) {
  using T = TestType;
  const Context ctx = device_context();
  const bool flat = GENERATE(true, false), wide = GENERATE(true, false);
  std::vector<double> sigma;
  for (index_t j = 0; j < 140; ++j) {
    const double share = static_cast<double>(j) / 140;
    sigma.push_back(flat ? 3 - 2 * share : std::pow(10, -9 * share));
  }
  const AnyMatrix<T> a = wide ? with_singular_values<T>(140, 170, sigma) : with_singular_values<T>(170, 140, sigma);
  const auto there = solvers::copy_to<T>(ctx.stream, a);
  const auto view = std::get<Matrix<T>>(a).cview();
  solvers::EigenOptions o{.nev = 140};
  const solvers::SvdProblem<T> problem{solvers::rectangular<T>(view, std::get<DeviceMatrix<T>>(there).cview()), view};
  const auto r = solvers::solve_svd<T>(ctx, problem, o);
  CAPTURE(flat, wide);
  CHECK(r.stage == solvers::SvdStage::whole);
  CHECK(r.triplets.decomposed_by == expected_on_device<T>(flat ? DenseTask::hermitian : DenseTask::singular, 140));
  check(r, sigma, allowed::many_steps);
}

TEST_CASE("a whole matrix on the processor tells who decomposed it") {
  const auto a = generators::laplacian({14, 14});
  const auto r = solve(a, options_for(196, Which::LA, Method::dense));
  CHECK(r.verified);
  CHECK(r.decomposed_by == (lapack_name().empty() ? "Eigen" : lapack_name()));
  CHECK(solve(a, options_for(3, Which::LA, Method::lanczos)).decomposed_by.empty());
}

TEST_CASE("the loss of orthogonality of many columns is bounded alike in both places", "[gpu]") {
  const Context ctx = device_context();
  for (const index_t k : {140, 300}) {
    Matrix<double> x(400, k), r(k, k);
    solvers::fill_random<double>(Context{}, 3, 0, x.view());
    ortho::orthonormalise<double>(Context{}, ortho::Ladder{}, x.view(), r.view());
    for (index_t i = 0; i < 400; ++i) x(i, k - 1) *= 1.25, x(i, k / 2) += x(i, 3) / 8;
    PlacedMatrix<double> there(ctx, Space::device, 400, k);
    copy_block<double>(ctx, x.cview(), there.view());
    const double here = ortho::bound_of_loss<double>(Context{}, x.cview());
    CHECK(here > 0.1);
    CHECK(std::abs(ortho::bound_of_loss<double>(ctx, there.cview()) - here) < allowed::long_sum);
  }
}
