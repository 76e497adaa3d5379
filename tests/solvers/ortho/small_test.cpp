#include "tallskinny/solvers/ortho/small.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using Complex = std::complex<double>;

TEST_CASE("eigenvalues of a small Hermitian matrix", "[short]") {
  Matrix<Complex> h(2, 2);
  h(0, 0) = 2, h(0, 1) = Complex(0, -1), h(1, 0) = Complex(0, 1), h(1, 1) = 2;
  const auto e = ortho::hermitian_eigen<Complex>(h.cview());
  CHECK(e.values[0] == Approx(1));
  CHECK(e.values[1] == Approx(3));
  for (index_t k = 0; k < 2; ++k)  // H u = lambda u
    for (index_t i = 0; i < 2; ++i)
      CHECK(std::abs(h(i, 0) * e.vectors(0, k) + h(i, 1) * e.vectors(1, k) -
                     e.values[static_cast<std::size_t>(k)] * e.vectors(i, k)) < 10 * test::eps<double>);
  h(1, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(ortho::hermitian_eigen<Complex>(h.cview()).values[0]));
  CHECK(ortho::hermitian_eigen<double>(Matrix<double>(0, 0).cview()).values.empty());
}

TEST_CASE("Cholesky factor of a small Gram matrix", "[short]") {
  Matrix<double> g(2, 2);
  g(0, 0) = 4, g(0, 1) = 2, g(1, 0) = 2, g(1, 1) = 10;
  REQUIRE(ortho::cholesky(g.view(), 0.0));
  CHECK(g(0, 0) == 2);
  CHECK(g(0, 1) == 1);
  CHECK(g(1, 0) == 0);
  CHECK(g(1, 1) == 3);
  g(0, 0) = 1, g(0, 1) = 1, g(1, 0) = 1, g(1, 1) = 1;
  CHECK_FALSE(ortho::cholesky(g.view(), unit_roundoff));
  g(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(ortho::cholesky(g.view(), 0.0));
}

TEST_CASE("small products", "[short]") {
  Matrix<double> a(2, 2), r(2, 1);
  a(0, 0) = 1, a(0, 1) = 2, a(1, 0) = 3, a(1, 1) = 4, r(0, 0) = 5, r(1, 0) = 6;
  ortho::multiply_left<double>(a.cview(), r.view());
  CHECK(r(0, 0) == 17);
  CHECK(r(1, 0) == 39);
}

// Both sides of the size beyond which LAPACK is taken, where the machine has it.
TEMPLATE_TEST_CASE("singular values of a small matrix", "[short]", float, double, Complex) {
  const auto [m, n] = GENERATE(std::pair<index_t, index_t>{20, 9}, std::pair<index_t, index_t>{150, 131},
                               std::pair<index_t, index_t>{131, 140});
  Matrix<TestType> a(m, n);
  std::uint64_t state = 1;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const auto next = [&] { return static_cast<double>((state = state * 6364136223846793005u + 1) >> 40) * 0x1p-24; };
      if constexpr (is_complex<TestType>)
        a(i, j) = TestType(next() - 0.5, next() - 0.5);
      else
        a(i, j) = static_cast<TestType>(next() - 0.5);
    }
  const auto s = ortho::svd<TestType>(a.cview()), again = ortho::svd<TestType>(a.cview());
  const auto k = std::min(m, n);
  double off = 0, loss = 0;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      TestType sum = -a(i, j);
      for (index_t l = 0; l < k; ++l) sum += s.u(i, l) * s.values[at(l)] * conjugate(s.v(j, l));
      off = std::max<double>(off, std::abs(sum));
    }
  for (index_t p = 0; p < k; ++p)
    for (index_t q = 0; q < k; ++q)
      for (const auto* x : {&s.u, &s.v}) {
        TestType sum = p == q ? TestType(-1) : TestType(0);
        for (index_t i = 0; i < x->rows(); ++i) sum += conjugate((*x)(i, p)) * (*x)(i, q);
        loss = std::max<double>(loss, std::abs(sum));
      }
  const double rounding = static_cast<double>(test::eps<real_t<TestType>>);
  CHECK(off < 200 * rounding);
  CHECK(loss < 100 * rounding);
  for (index_t l = 1; l < k; ++l) CHECK(s.values[at(l)] <= s.values[at(l - 1)]);
  CHECK(s.values == again.values);
  CHECK(s.u(m - 1, k - 1) == again.u(m - 1, k - 1));
}
