// Every method on a GPU against the processor's answer: what is asked, of a matrix that is in both places.
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/solvers/svd/svd.hpp"
#include "tallskinny/tests/solvers/eigen/device_runs.hpp"

using solvers::AnyMatrix;
using solvers::Factorise;

namespace {

template <class T>
using Run = std::function<EigenResult<T>(const Context&, solvers::Assembled<T>&)>;

template <class T>
void expect_same(const EigenResult<T>& there, const EigenResult<T>& again, const EigenResult<T>& here) {
  CAPTURE(there.reason, here.reason);
  CHECK(there.verified);
  // Counts by factors cost more steps of a GPU than of a processor: a search may take their place.
  CHECK((there.verification == solvers::Verification::none) == (here.verification == solvers::Verification::none));
  REQUIRE(there.values.size() == here.values.size());
  for (std::size_t i = 0; i < here.values.size(); ++i)
    CHECK(std::abs(there.values[i] - here.values[i]) <= there.error_bounds[i] + here.error_bounds[i]);
  CHECK(there.multiplicities == here.multiplicities);
  CHECK(there.values == again.values);
}

/// `run` twice on the GPU and once on the processor.
template <class T>
void compare_runs(const AnyMatrix<T>& a, const std::optional<CsrMatrix<T>>& mass, std::optional<double> target,
                  const Run<T>& run) {
  const auto factorise = target ? Factorise::needed : Factorise::cheap;
  auto here = solvers::assemble<T>(Context(), a, solvers::view_of(mass), target, {factorise});
  const Context ctx = device_context();
  const auto there = solvers::copy_to<T>(ctx.stream, a);
  auto on_device = solvers::assemble<T>(ctx, a, solvers::view_of(mass), target, {factorise}, there);
  CHECK(on_device.problem.a.space() == Space::device);
  const auto first = run(ctx, on_device), again = run(ctx, on_device);
  expect_same(first, again, run(Context{}, here));
}

template <class T>
Run<T> solving(const EigenOptions& o) {
  return [o](const Context& ctx, solvers::Assembled<T>& a) { return solvers::solve_eigen<T>(ctx, a.problem, o); };
}

}  // namespace

TEST_CASE("on a GPU LOBPCG and Davidson, with every preconditioner", "[device][gpu]") {
  const AnyMatrix<double> a = generators::laplacian({14, 14, 14});
  for (const auto method : {Method::lobpcg, Method::davidson})
    for (const auto kind : {solvers::Preconditioner::jacobi, solvers::Preconditioner::incomplete_cholesky,
                            solvers::Preconditioner::chebyshev}) {
      CAPTURE(static_cast<int>(method), static_cast<int>(kind));
      compare_runs<double>(a, std::nullopt, std::nullopt, [&](const Context& ctx, solvers::Assembled<double>& it) {
        it.problem.preconditioner = solvers::preconditioner_of<double>(ctx, a, it, kind, Which::SA);
        return solvers::solve_eigen<double>(ctx, it.problem, fine_options(8, Which::SA, method));
      });
    }
  compare_runs<std::complex<double>>(generators::flux_ring(900, 0.3), std::nullopt, std::nullopt,
                                     solving<std::complex<double>>(fine_options(6, Which::LA, Method::lobpcg)));
}

TEST_CASE("on a GPU through an inverse: a target, a mass matrix, the ends", "[device][gpu]") {
  const AnyMatrix<double> a = generators::laplacian({14, 13, 12});
  compare_runs<double>(a, std::nullopt, 0.7, solving<double>(fine_options(10, Which::LM)));
  auto mass = generators::identity(14 * 13 * 12);
  for (std::size_t i = 0; i < mass.values.size(); ++i) mass.values[i] = 1 + 0.5 * static_cast<double>(i % 3);
  compare_runs<double>(a, mass, 0.1, solving<double>(fine_options(6, Which::LM)));
  compare_runs<double>(a, mass, std::nullopt, solving<double>(fine_options(6, Which::LA, Method::lanczos)));
  compare_runs<double>(generators::laplacian({40, 40}), std::nullopt, std::nullopt,
                       solving<double>(fine_options(6, Which::LM)));
}

TEST_CASE("on a GPU all eigenvalues of an interval, counted or by polynomials", "[device][gpu]") {
  const AnyMatrix<double> a = generators::laplacian({30, 31});
  for (const auto method : {Method::automatic, Method::lanczos})
    compare_runs<double>(a, std::nullopt, std::nullopt, [&](const Context& ctx, solvers::Assembled<double>& it) {
      return solvers::solve_interval<double>(ctx, it.problem, fine_options(1, Which::SA, method), {0.5, 0.75}, nullptr);
    });
}

TEST_CASE("on a GPU matrices that are not Hermitian", "[device][gpu]") {
  const std::vector<double> c = {0.5, 1, 0, -0.3, 0.2};
  const AnyMatrix<double> a = generators::circulant(300, c);  // 900: 20000 block steps do not verify LM
  const AnyMatrix<double> adjoint = solvers::adjoint_of<double>(a);
  const Context ctx = device_context();
  const auto there = solvers::copy_to<double>(ctx.stream, a),
             adjoint_there = solvers::copy_to<double>(ctx.stream, adjoint);
  solvers::GeneralOptions o;
  o.common.nev = 6, o.common.tol = 1e-9, o.common.max_basis = 120, o.common.max_iterations = 20000;
  for (const auto part : {solvers::GeneralWhich::LM, solvers::GeneralWhich::SR}) {
    o.part = part;
    const auto solve = [&](const Context& on, const solvers::DeviceCopy<double>& of_a,
                           const solvers::DeviceCopy<double>& of_adjoint) {
      solvers::GeneralProblem<double> problem{solvers::operator_of<double>(a, of_a)};
      problem.adjoint = [&] {
        return solvers::GeneralProblem<double>{solvers::operator_of<double>(adjoint, of_adjoint)};
      };
      return solvers::solve_general<double>(on, problem, o);
    };
    const auto r = solve(ctx, there, adjoint_there), again = solve(ctx, there, adjoint_there),
               here = solve(Context{}, {}, {});
    CAPTURE(r.reason, here.reason);
    CHECK(r.verified);
    CHECK(r.values == again.values);
    REQUIRE(r.values.size() == here.values.size());
    for (std::size_t i = 0; i < r.values.size(); ++i)
      CHECK(std::abs(r.values[i] - here.values[i]) < allowed::default_run * here.norm);
  }
}

namespace {

template <class T>
void compare_svd(const solvers::SvdProblem<T>& on_host, const solvers::SvdProblem<T>& on_device, Which which,
                 index_t nev) {
  auto o = fine_options(nev, which);
  o.max_iterations = 20000;  // searches where all would be computed otherwise
  const Context ctx = device_context();
  const auto here = solvers::solve_svd<T>(Context{}, on_host, o), r = solvers::solve_svd<T>(ctx, on_device, o),
             again = solvers::solve_svd<T>(ctx, on_device, o);
  CHECK(r.stage == here.stage);
  expect_same(r.triplets, again.triplets, here.triplets);
  CHECK(r.triplets.orthogonality_loss < allowed::long_sum);
  CHECK(r.left.rows() == on_host.a.rows);
}

}  // namespace

TEST_CASE("on a GPU singular values of sparse and dense matrices", "[device][gpu]") {
  const Context ctx = device_context();
  auto sparse = generators::laplacian({30, 31});
  for (index_t k = 0; k < sparse.nonzeros(); ++k)
    sparse.values[static_cast<std::size_t>(k)] += 0.01 * static_cast<double>(k % 7);
  DeviceCsrMatrix<double> sparse_there(ctx.stream, sparse.view());
  sparse_there.keep_transposed(ctx.stream, sparse.view());
  const auto here = solvers::rectangular<double>(sparse.view());
  const auto there = solvers::rectangular<double>(sparse.view(), sparse_there.view());
  compare_svd<double>({here, {}, sparse.view()}, {there, {}, sparse.view()}, Which::LA, 6);
  compare_svd<double>({here, {}, sparse.view()}, {there, {}, sparse.view()}, Which::SM, 4);
  const auto means = solvers::column_means<double>(Context{}, here);
  compare_svd<double>({solvers::centred<double>(Context{}, here, means)}, {solvers::centred<double>(ctx, there, means)},
                      Which::LA, 3);

  for (const index_t columns : {40, 700}) {
    Matrix<double> dense(3000, columns);
    solvers::fill_random<double>(Context{}, 7, 0, dense.view());
    for (index_t i = 0; i < dense.rows(); ++i)
      for (index_t j = 0; j < columns; ++j) dense(i, j) *= std::pow(0.95, static_cast<double>(j));
    DeviceMatrix<double> dense_there(ctx.stream, dense.rows(), columns);
    copy(ctx.stream, dense_there.view(), dense.cview());
    compare_svd<double>({solvers::rectangular<double>(dense.cview()), dense.cview()},
                        {solvers::rectangular<double>(dense.cview(), dense_there.cview()), dense.cview()}, Which::LA,
                        5);
  }
}
