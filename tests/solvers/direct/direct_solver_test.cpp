#include <future>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/solvers/direct/cholesky.hpp"
#include "tallskinny/solvers/direct/direct_solver.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/direct/supernodes.hpp"
#include "tallskinny/solvers/eigen/transform/pencil.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::CholeskyBackend;
using solvers::CholeskyFactor;
using solvers::CholeskyStep;
using solvers::DirectBackend;
using solvers::FactorKind;

namespace {

/// The rows of a small dense matrix, zeros left out but for those on the diagonal.
template <class T>
CsrMatrix<T> sparse_of(index_t n, const std::vector<T>& rows) {
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
    for (index_t j = 0; j < n; ++j)
      if (const T x = rows[static_cast<std::size_t>(i * n + j)]; x != T{} || i == j) add(j, x);
  });
}

/// Those that are here.
template <class T>
std::vector<DirectBackend> backends(CsrView<T> a) {
  std::vector<DirectBackend> all = {DirectBackend::eigen};
  if (solvers::analyse<T>(a, FactorKind::lu)->estimate().by != "Eigen") all.push_back(DirectBackend::mumps);
  return all;
}

/// max |A X - B| of X = A^-1 B for a block of five columns, and of A^H likewise.
template <class T>
double residual_of(CsrView<T> a, const solvers::DirectSolver<T>& solver) {
  const index_t n = a.rows, p = 5;
  double most = 0;
  for (const Op op : {Op::none, Op::adjoint}) {
    auto b = matrix_of<T>(n, p, [](index_t i, index_t j) { return static_cast<double>((i * (j + 3)) % 7) - 3.0; });
    Matrix<T> x(n, p);
    solver.solve(Context{}, op, b.cview(), x.view());
    spmm(Context{}, op, T{1}, a, x.cview(), T{-1}, b.view());
    most = std::max(most, max_difference(b, Matrix<T>::zeros(n, p)));
  }
  return most;
}

/// I plus the Laplacian of a cube, its entries beside the diagonal times i or -i where T is complex.
template <class T>
CsrMatrix<T> definite(index_t side) {
  const auto real = generators::laplacian({side, side, side});
  CsrMatrix<T> m{real.rows, real.cols, real.pointers, real.indices, {real.values.begin(), real.values.end()}};
  change_entries(m, [](index_t i, index_t j, T& x) {
    if (i == j) x += 1;
    if constexpr (is_complex<T>)
      if (i != j) x *= T(0, i < j ? 1 : -1);
  });
  return m;
}

template <class T>
Matrix<T> image(const CholeskyFactor<T>& factor, std::initializer_list<CholeskyStep> steps, const Matrix<T>& x,
                int threads = 2) {
  Context ctx{.threads = threads};
  Matrix<T> y(x.rows(), x.cols());
  HostView<const T> from = x.cview();
  for (const CholeskyStep step : steps) factor.apply(ctx, step, from, y.view()), from = y.cview();
  return y;
}

template <class T>
void check_factor(CsrView<T> m, const CholeskyFactor<T>& factor) {
  CAPTURE(factor.by(), is_complex<T>, m.rows);
  for (const index_t p : {1, 11, 17}) {
    Matrix<T> x(m.rows, p), mx(m.rows, p);
    solvers::fill_random<T>(Context{}, 7, 1, x.view());
    spmm(Context{}, Op::none, T{1}, m, x.cview(), T{0}, mx.view());
    const auto by_factor = image<T>(factor, {CholeskyStep::multiply_adjoint, CholeskyStep::multiply}, x);
    const auto off = [&](std::initializer_list<CholeskyStep> steps, const Matrix<T>& from) {
      return max_difference(image<T>(factor, steps, from), x);
    };
    CHECK(max_difference(by_factor, mx) < allowed::run_of_norm_10);
    CHECK(off({CholeskyStep::solve, CholeskyStep::solve_adjoint}, mx) < allowed::run_of_norm_10);
    CHECK(off({CholeskyStep::multiply, CholeskyStep::solve}, x) < allowed::run_of_norm_10);
    CHECK(off({CholeskyStep::solve_adjoint, CholeskyStep::multiply_adjoint}, x) < allowed::run_of_norm_10);
    for (const int threads : {1, 3})
      CHECK(max_difference(image<T>(factor, {CholeskyStep::multiply_adjoint, CholeskyStep::multiply}, x, threads),
                           by_factor) == 0);
  }
}

}  // namespace

TEST_CASE("every direct solver solves Hermitian matrices and counts their negative eigenvalues") {
  const auto check = [](const auto& a, const std::vector<double>& spectrum) {
    using T = typename std::decay_t<decltype(a)>::value_type;
    for (const DirectBackend backend : backends<T>(a.view())) {
      const solvers::ShiftedPencil<T> pencil(a.view(), {}, backend);
      CHECK(pencil.estimate().flops > 0);
      for (const std::size_t below : {std::size_t{0}, spectrum.size() / 3, spectrum.size() - 1}) {
        const double sigma = below == 0 ? spectrum[0] - 1 : 0.5 * (spectrum[below - 1] + spectrum[below]);
        const auto factors = pencil.factorised(sigma);
        REQUIRE(factors);
        CHECK(factors->solver->negative() == static_cast<index_t>(below));
        INFO(factors->solver->estimate().by << ": " << factors->error);
        CHECK(factors->error < allowed::tight_run);
      }
    }
  };
  check(generators::laplacian({9, 8, 7}), generators::laplacian_spectrum({9, 8, 7}).all());
  check(generators::flux_ring(301, 0.3), generators::flux_ring_spectrum(301, 0.3).all());
}

TEMPLATE_TEST_CASE("every direct solver solves general matrices, and the same pattern with other values", "", double,
                   std::complex<double>) {
  using T = TestType;
  auto a = sparse_of<T>(4, {0, 2, 0, 0, -1, 0, 1, 0, 0, 0, 3, 1, 5, 0, 0, 3});
  if constexpr (is_complex<T>) a.values[1] = T(2, 1);
  for (const DirectBackend backend : backends<T>(a.view())) {
    const auto solver = solvers::analyse<T>(a.view(), FactorKind::lu, backend);
    for (const double factor : {1.0, -7.0}) {
      auto scaled = a;
      for (T& x : scaled.values) x *= factor;
      REQUIRE(solver->factorise(scaled.view()));
      CHECK(residual_of<T>(scaled.view(), *solver) < allowed::short_sum * 10);
      CHECK_FALSE(solver->negative());
    }
  }
}

TEST_CASE("without pivots a Hermitian factorisation of this matrix would be worth nothing") {
  // Eigenvalues of [0, A; A^T, 0] are -s and s for all singular values s of A: as many below zero as above.
  const auto a = sparse_of<double>(4, {0, 0, 1, 2, 0, 0, 3, 4, 1, 3, 0, 0, 2, 4, 0, 0});
  for (const DirectBackend backend : backends<double>(a.view())) {
    const auto solver = solvers::analyse<double>(a.view(), FactorKind::ldl, backend);
    REQUIRE(solver->factorise(a.view()));
    CHECK(residual_of<double>(a.view(), *solver) < allowed::short_sum * 10);
    CHECK(solver->negative().value_or(2) == 2);  // Eigen's, which does not pivot there, does not tell
    CHECK((backend == DirectBackend::eigen || solver->negative()));
  }
}

TEST_CASE("a singular matrix is not factorised") {
  const auto a = sparse_of<double>(3, {1, 1, 0, 1, 1, 0, 0, 0, 2});
  for (const DirectBackend backend : backends<double>(a.view()))
    for (const FactorKind kind : {FactorKind::ldl, FactorKind::lu})
      CHECK_FALSE(solvers::analyse<double>(a.view(), kind, backend)->factorise(a.view()));
}

TEST_CASE("zeros that leave no full transversal are told, and other values on the pattern are factorised") {
  auto a = sparse_of<double>(3, {0, 1, 2, 0, 0, 3, 0, 0, 0});  // the diagonal is stored
  for (const DirectBackend backend : backends<double>(a.view())) {
    const auto solver = solvers::analyse<double>(a.view(), FactorKind::lu, backend);
    CHECK_FALSE(solver->factorise(a.view()));
    auto b = a;
    for (double& x : b.values) x = x == 0 ? -0.5 : x;
    REQUIRE(solver->factorise(b.view()));
    CHECK(residual_of<double>(b.view(), *solver) < allowed::short_sum * 10);
  }
}

TEST_CASE("nested dissection gives every row one place, for patterns that are not symmetric and in pieces, too") {
  CHECK(solvers::nested_dissection(3, generators::identity(3).pointers.data(), nullptr).empty());
  auto a = generators::laplacian({20, 20});
  for (index_t e = 0; e < a.nonzeros(); e += 3) a.indices[at(e)] = 7;
  for (const auto& matrix : {a, generators::identity(500), generators::laplacian_copies(5, 100)}) {
    auto places = solvers::nested_dissection(matrix.rows, matrix.pointers.data(), matrix.indices.data());
    if (places.empty()) continue;  // no METIS here
    CHECK((places == solvers::nested_dissection(matrix.rows, matrix.pointers.data(), matrix.indices.data())));
    std::sort(places.begin(), places.end());
    for (index_t i = 0; i < matrix.rows; ++i) REQUIRE(places[at(i)] == i);
  }
}

TEST_CASE("nested dissections at the same time are those of one after the other") {
  const auto a = generators::laplacian({40, 40}), b = generators::laplacian({12, 12, 12});
  const auto order = [](const CsrMatrix<double>& m) {
    return solvers::nested_dissection(m.rows, m.pointers.data(), m.indices.data());
  };
  const auto of_a = order(a), of_b = order(b);
  for (int turn = 0; turn < 10; ++turn) {
    auto beside = std::async(std::launch::async, [&] { return order(a); });
    CHECK(order(b) == of_b);
    CHECK(beside.get() == of_a);
  }
}

TEST_CASE("factors of one shift outlive those of the next, which begin with the same order") {
  const auto a = generators::laplacian({30, 30});
  const auto shifted = [&](double sigma) {
    auto b = a;
    change_entries(b, [sigma](index_t i, index_t j, double& x) { x -= i == j ? sigma : 0; });
    return b;
  };
  const solvers::ShiftedPencil<double> pencil(a.view());
  const auto first = pencil.factorised(0.1);
  const auto second = pencil.factorised(0.2);
  CHECK(pencil.factorised(0.2) == second);
  CHECK(second->solver->estimate().flops < 1.5 * first->solver->estimate().flops);
  CHECK(first->stable);
  CHECK(second->stable);
  CHECK(residual_of<double>(shifted(0.1).view(), *first->solver) < allowed::tight_run);
  CHECK(residual_of<double>(shifted(0.2).view(), *second->solver) < allowed::tight_run);
}

TEMPLATE_TEST_CASE("steps with a Cholesky factor multiply to the matrix and undo each other", "", double,
                   std::complex<double>) {
  const auto large = definite<TestType>(12);
  const auto best = solvers::cholesky<TestType>(large.view());
  REQUIRE(best);
  for (const index_t side : {1, 2, 5, 12}) {
    const auto m = definite<TestType>(side);
    check_factor<TestType>(m.view(), *solvers::cholesky<TestType>(m.view(), CholeskyBackend::by_columns));
    check_factor<TestType>(m.view(), *solvers::cholesky<TestType>(m.view()));
  }
  if (best->by() != "CHOLMOD")  // where CHOLMOD is not here
    CHECK_THROWS_AS(solvers::cholesky<TestType>(large.view(), CholeskyBackend::cholmod), Error);
}

TEMPLATE_TEST_CASE("a mass matrix without zeros is factorised as one block", "", double, std::complex<double>) {
  constexpr index_t n = 150;
  auto m = csr_by_rows<TestType>(n, n, [](index_t i, auto add) {
    for (index_t j = 0; j < n; ++j) add(j, TestType(std::pow(0.5, std::abs(static_cast<double>(i - j)))));
  });
  change_entries(m, [](index_t i, index_t j, TestType& x) {
    if constexpr (is_complex<TestType>)
      if (i != j) x *= TestType(0, i < j ? 1 : -1) * 0.5;
  });
  const auto factor = solvers::cholesky<TestType>(m.view());
  REQUIRE(factor);
  CHECK((factor->by() == "LAPACK" || !solvers::has_supernodes<TestType>()));
  check_factor<TestType>(m.view(), *factor);
  change_entries(m, [](index_t i, index_t j, TestType& x) { x = i == j && i + 1 == n ? -1 : x; });
  CHECK(solvers::cholesky<TestType>(m.view()) == nullptr);
}

TEMPLATE_TEST_CASE("an indefinite matrix has no Cholesky factor, whoever tries", "", double, std::complex<double>) {
  auto m = definite<TestType>(12);
  change_entries(m, [&m](index_t i, index_t j, TestType& x) { x = i == j && i + 1 == m.rows ? -1 : x; });
  CHECK(solvers::cholesky<TestType>(m.view()) == nullptr);
  CHECK(solvers::cholesky<TestType>(m.view(), CholeskyBackend::by_columns) == nullptr);
}

TEST_CASE("factors of a star whose pivots are all delayed take far more than their analysis foresees") {
  // Its Laplacian has the eigenvalues 0, 1 (n - 2 times) and n: below 1 every leaf's pivot is too small.
  const index_t n = 500;
  const double shift = 1 - 1e-3;
  const auto a = csr_by_rows<double>(n, n, [n, shift](index_t i, auto add) {
    add(0, i == 0 ? static_cast<double>(n - 1) - shift : -1.0);
    if (i > 0) return add(i, 1.0 - shift);
    for (index_t j = 1; j < n; ++j) add(j, -1.0);
  });
  for (const DirectBackend backend : backends<double>(a.view())) {
    const auto solver = solvers::analyse<double>(a.view(), FactorKind::ldl, backend);
    CAPTURE(solver->estimate().by);
    REQUIRE(solver->factorise(a.view()));
    CHECK(solver->negative() == 1);
  }
}

TEST_CASE("factors of few flops a row are simplicial, refined where pivots are small, and others follow") {
  using solvers::analyse;
  const auto band = generators::laplacian({40, 3}), cube = generators::laplacian({20, 20, 20});
  CHECK(analyse<double>(band.view(), FactorKind::ldl)->estimate().by == "a simplicial L D L^H");
  CHECK(analyse<double>(cube.view(), FactorKind::ldl)->estimate().by != "a simplicial L D L^H");
  CHECK(analyse<double>(band.view(), FactorKind::lu)->estimate().by != "a simplicial L D L^H");
  // [0, A; A^T, 0] of this file has zero pivots, and of a pivot of 1e-13 few digits are left.
  for (const double diagonal : {0.0, 1e-13, 1e-9}) {
    const auto a = sparse_of<double>(4, {diagonal, 0, 1, 2, 0, diagonal, 3, 4, 1, 3, diagonal, 0, 2, 4, 0, diagonal});
    auto solver = analyse<double>(a.view(), FactorKind::ldl);
    CHECK(solvers::factorise_well<double>(Context{}, solver, a.view(), FactorKind::ldl) < 1e-13);
    CHECK(solver->estimate().by == "a simplicial L D L^H");
    CHECK(residual_of<double>(a.view(), *solver) < allowed::short_sum * 10);
    CHECK(solver->negative() == 2);
    CHECK((solver->moved_pivots() > 0) == (diagonal == 0));
  }
  // A pivot that is moved by 1e-8 is moved by more than an eigenvalue of 1e-9 has: no step makes up for it.
  const auto near = sparse_of<double>(2, {0, 1e-9, 1e-9, 1});
  auto solver = analyse<double>(near.view(), FactorKind::ldl);
  CHECK(solvers::factorise_well<double>(Context{}, solver, near.view(), FactorKind::ldl) < 1e-13);
  CHECK(solver->estimate().by != "a simplicial L D L^H");
}
