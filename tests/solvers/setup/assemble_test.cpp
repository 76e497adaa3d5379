#include "tallskinny/solvers/setup/assemble.hpp"

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::AnyMatrix;
using solvers::assemble;
using solvers::Factorise;
using solvers::Preconditioner;
using solvers::Which;
using Complex = std::complex<double>;

namespace {

constexpr index_t n = 40;

/// tridiagonal (-1, 2, -1), as a sparse and as a dense matrix.
AnyMatrix<double> line() { return generators::laplacian({n}); }
AnyMatrix<double> dense_line() { return dense_of(generators::laplacian({n})); }

/// One column with numbers of both signs.
template <class T>
Matrix<T> column() {
  return matrix_of<T>(n, 1, [](auto i, auto) { return T(std::sin(1.0 + static_cast<double>(i))); });
}

template <class T>
Matrix<T> applied(const solvers::Operator<T>& op, const Matrix<T>& x) {
  Matrix<T> y(x.rows(), x.cols());
  op.apply(Context{}, x.cview(), y.view());
  return y;
}

/// Error bound of products with n terms, whose factors are of order one.
template <class T>
const double bound = test::product_bound<T>(n, 4 * n);

}  // namespace

TEST_CASE("sparse and dense matrices are the same operator, in float32, too") {
  const auto x = column<double>();
  const AnyMatrix<double> sparse = line(), dense = dense_line();
  CHECK(max_difference(applied(solvers::operator_of<double>(sparse), x),
                       applied(solvers::operator_of<double>(dense), x)) <= bound<double>);
  const solvers::DeviceCopy<double> nowhere;
  for (const auto* a : {&sparse, &dense}) {
    const auto numbers = solvers::rounded<double>(Context{}, *a, nowhere);
    const auto y = applied(solvers::operator_of<double>(*a, nowhere, numbers), column<float>());
    CHECK(max_difference(y, applied(solvers::operator_of<double>(*a), x)) <= bound<float>);
  }
}

TEST_CASE("the adjoint of a matrix, sparse and dense") {
  const auto a = matrix_of<Complex>(2, 3, [](index_t i, index_t j) { return Complex(double(i), double(j + 1)); });
  const auto adjoint = std::get<Matrix<Complex>>(solvers::adjoint_of<Complex>(Matrix<Complex>::copy_of(a.cview())));
  CHECK(adjoint.rows() == 3);
  CHECK(adjoint(2, 1) == std::conj(a(1, 2)));
  const auto ring = generators::flux_ring(12, 0.3);  // Hermitian
  const auto same = std::get<CsrMatrix<Complex>>(solvers::adjoint_of<Complex>(CsrMatrix<Complex>(ring)));
  CHECK(same.values == ring.values);
  CHECK(same.indices == ring.indices);
}

TEST_CASE("what is factorised: nothing, what is cheap, or what a target needs") {
  const auto matrix = line();
  const auto plain = assemble<double>(Context(), matrix, std::nullopt, std::nullopt, {Factorise::nothing});
  CHECK_FALSE(plain.problem.inverse);
  CHECK_FALSE(plain.problem.count_below);
  const auto cheap = assemble<double>(Context(), matrix, std::nullopt, std::nullopt, {Factorise::cheap});
  CHECK_FALSE(cheap.problem.inverse);
  REQUIRE(cheap.problem.count_below);
  CHECK(cheap.problem.count_below(2.01, 0.05) ==
        n / 2);  // symmetric about 2, with 2 - 0.077 and 2 + 0.077 in the middle
  CHECK(cheap.problem.invert);
  for (const auto& a : {line(), dense_line()}) {
    const auto near = assemble<double>(Context(), a, std::nullopt, 0.5, {Factorise::needed});
    REQUIRE(near.problem.inverse);
    CHECK(near.problem.target == 0.5);
    const auto x = column<double>();
    auto back = applied(solvers::operator_of<double>(a), applied(*near.problem.inverse, x));
    const auto shifted = applied(*near.problem.inverse, x);
    for (index_t i = 0; i < n; ++i) back(i, 0) -= near.problem.shift * shifted(i, 0);
    CHECK(max_difference(back, x) <= n * bound<double>);
  }
}

TEST_CASE("a mass matrix makes the standard form, and must be positive definite") {
  auto mass = generators::identity(n);
  for (double& v : mass.values) v = 4;
  const auto matrix = line();
  const auto pencil = assemble<double>(Context(), matrix, mass.view(), std::nullopt, {Factorise::cheap});
  REQUIRE(pencil.factor);
  CHECK(std::abs(pencil.factor->least() - 4) <= bound<double>);
  CHECK(pencil.problem.count_below(0.5025, 0.01) == n / 2);
  mass.values[5] = -1;
  CHECK_THROWS_AS(assemble<double>(Context(), matrix, mass.view(), std::nullopt, {Factorise::cheap}), Error);
}

TEST_CASE("preconditioners are made for sparse and for dense matrices") {
  const auto x = column<double>();
  const Context ctx;
  for (const auto& a : {line(), dense_line()}) {
    const auto assembled = assemble<double>(Context(), a, std::nullopt, std::nullopt, {Factorise::cheap});
    auto y = applied(solvers::preconditioner_of<double>(ctx, a, assembled, Preconditioner::jacobi, Which::SA), x);
    for (index_t i = 0; i < n; ++i) y(i, 0) *= 2;  // the diagonal
    CHECK(max_difference(y, x) <= bound<double>);
    const auto polynomial =
        applied(solvers::preconditioner_of<double>(ctx, a, assembled, Preconditioner::chebyshev, Which::LA), x);
    CHECK(max_difference(polynomial, x) > 0);
  }
  // A tridiagonal matrix has no entries that an incomplete factorisation would leave out.
  const auto sparse = line(), dense = dense_line();
  const auto assembled = assemble<double>(Context(), sparse, std::nullopt, std::nullopt, {Factorise::cheap});
  const auto inverse =
      solvers::preconditioner_of<double>(ctx, sparse, assembled, Preconditioner::incomplete_cholesky, Which::SA);
  CHECK(max_difference(applied(solvers::operator_of<double>(sparse), applied(inverse, x)), x) <= n * bound<double>);
  CHECK(mentions(message_of([&] {
                   (void)solvers::preconditioner_of<double>(ctx, dense, assembled, Preconditioner::incomplete_cholesky,
                                                            Which::SA);
                 }),
                 "needs a sparse matrix"));
}

TEST_CASE("a small matrix is left to LAPACK near a target where its factors would cost more, and only there") {
  const Context ctx;
  const auto cube = generators::hypercube(9), grid = generators::laplacian({30, 30});
  const auto method = [&ctx](const CsrMatrix<double>& a, std::optional<double> target, solvers::EigenOptions options) {
    const solvers::AnyView<double> view(a.view());
    const auto assembled =
        solvers::assemble_or_whole<double>(ctx, a.rows, view, std::nullopt, target, {Factorise::needed}, {}, options);
    CHECK(assembled.problem.inverse.has_value() == (target && options.method != solvers::Method::dense));
    CHECK((target || assembled.problem.count_below != nullptr));
    return options.method;
  };
  CHECK(method(cube, 6.66, {}) == solvers::Method::dense);
  CHECK(method(cube, std::nullopt, {}) == solvers::Method::dense);
  CHECK(method(grid, 2.9, {}) == solvers::Method::automatic);
  CHECK(method(grid, std::nullopt, {}) == solvers::Method::automatic);
  solvers::EigenOptions few;
  few.max_iterations = 50;
  CHECK(method(cube, 6.66, few) == solvers::Method::automatic);
}

TEST_CASE("factors for an end are analysed where that costs little beside block steps") {
  const auto analysed = [](const CsrMatrix<double>& a) {
    const solvers::AnyView<double> view(a.view());
    return assemble<double>(Context(), view, std::nullopt, std::nullopt, {Factorise::cheap}).problem.invert != nullptr;
  };
  CHECK(analysed(generators::laplacian({300000})));
  CHECK_FALSE(analysed(generators::laplacian({50, 50, 50})));
}
