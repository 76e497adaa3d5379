#include "tallskinny/solvers/ortho/small.hpp"

#include <cmath>
#include <limits>

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
