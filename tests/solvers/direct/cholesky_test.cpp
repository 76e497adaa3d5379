#include "tallskinny/solvers/direct/cholesky.hpp"

#include <algorithm>
#include <complex>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using solvers::CholeskyBody;
using solvers::CholeskyFactor;
using solvers::CholeskyStep;

namespace {

/// I plus the Laplacian of a cube, its entries beside the diagonal times i or -i where T is complex.
template <class T>
CsrMatrix<T> definite(index_t side) {
  const auto real = generators::laplacian({side, side, side});
  CsrMatrix<T> m;
  m.rows = m.cols = real.rows, m.pointers = real.pointers, m.indices = real.indices;
  for_each_entry(real.view(), [&m](index_t i, index_t j, double x) {
    if constexpr (is_complex<T>)
      m.values.push_back(i == j ? T(x + 1) : T(0, i < j ? x : -x));
    else
      m.values.push_back(i == j ? x + 1 : x);
  });
  return m;
}

/// max |X - Y|
template <class T>
double distance(const Matrix<T>& x, const Matrix<T>& y) {
  double most = 0;
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t j = 0; j < x.cols(); ++j) most = std::max(most, std::abs(x(i, j) - y(i, j)));
  return most;
}

template <class T>
Matrix<T> image(const CholeskyFactor<T>& factor, std::initializer_list<CholeskyStep> steps, const Matrix<T>& x,
                int threads = 2) {
  Context ctx;
  ctx.threads = threads;
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
    CHECK(distance(by_factor, mx) < test::allowed::run_of_norm_10);
    CHECK(distance(image<T>(factor, {CholeskyStep::solve, CholeskyStep::solve_adjoint}, mx), x) <
          test::allowed::run_of_norm_10);
    CHECK(distance(image<T>(factor, {CholeskyStep::multiply, CholeskyStep::solve}, x), x) <
          test::allowed::run_of_norm_10);
    CHECK(distance(image<T>(factor, {CholeskyStep::solve_adjoint, CholeskyStep::multiply_adjoint}, x), x) <
          test::allowed::run_of_norm_10);
    for (const int threads : {1, 3})
      CHECK(distance(image<T>(factor, {CholeskyStep::multiply_adjoint, CholeskyStep::multiply}, x, threads),
                     by_factor) == 0);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("steps with a Cholesky factor multiply to the matrix and undo each other", "", double,
                   std::complex<double>) {
  const auto large = definite<TestType>(12);
  const auto best = solvers::cholesky<TestType>(large.view());
  REQUIRE(best);
  for (const index_t side : {1, 2, 5, 12}) {
    const auto m = definite<TestType>(side);
    check_factor<TestType>(m.view(), *solvers::cholesky<TestType>(m.view(), CholeskyBody::eigen));
    check_factor<TestType>(m.view(), *solvers::cholesky<TestType>(m.view()));
  }
  if (best->by() == "Eigen")  // where CHOLMOD is not here
    CHECK_THROWS_AS(solvers::cholesky<TestType>(large.view(), CholeskyBody::cholmod), Error);
  else
    CHECK(best->by() == "CHOLMOD");
}

TEMPLATE_TEST_CASE("an indefinite matrix has no Cholesky factor, whoever tries", "", double, std::complex<double>) {
  auto m = definite<TestType>(12);
  std::size_t entry = 0, last = 0;
  for_each_entry(m.view(), [&](index_t i, index_t j, const TestType&) {
    if (i == j) last = entry;
    ++entry;
  });
  m.values[last] = -1;
  CHECK(solvers::cholesky<TestType>(m.view()) == nullptr);
  CHECK(solvers::cholesky<TestType>(m.view(), CholeskyBody::eigen) == nullptr);
}
