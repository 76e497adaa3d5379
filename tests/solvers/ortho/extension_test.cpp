// One block against a basis, by the default.
#include <limits>

#include "blocks.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

TEST_CASE("a guess of the projection gives the same factorisation") {
  const Context ctx;
  const auto v = test::orthonormal_block<std::complex<double>>(400, 12, 1);
  auto x = test::random_block<std::complex<double>>(400, 4, 2);
  const auto input = Matrix<std::complex<double>>::copy_of(x.cview());
  auto guess = Matrix<std::complex<double>>::zeros(12, 4);
  guess(3, 2) = {0.25, -1};
  Matrix<std::complex<double>> r(4, 4);
  const auto e = ortho::orthonormalise<std::complex<double>>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(),
                                                             guess.view(), r.view(), true);
  REQUIRE(e.rank == 4);
  Matrix<std::complex<double>> all(400, 16), both(16, 4), product(400, 4);
  for (index_t i = 0; i < 400; ++i) {
    for (index_t j = 0; j < 12; ++j) all(i, j) = v(i, j);
    for (index_t j = 0; j < 4; ++j) all(i, 12 + j) = x(i, j);
  }
  for (index_t j = 0; j < 4; ++j) {
    for (index_t i = 0; i < 12; ++i) both(i, j) = guess(i, j);
    for (index_t i = 0; i < 4; ++i) both(12 + i, j) = r(i, j);
  }
  tsmm(ctx, Op::none, std::complex<double>{1}, all.cview(), both.cview(), std::complex<double>{0},
       product.view());
  CHECK(test::distance<std::complex<double>>(product.view(), input.view()) < 100 * test::eps<double>);
  CHECK(ortho::loss_of_orthogonality<std::complex<double>>(ctx, all.view()) < 10 * test::eps<double>);
}

TEST_CASE("a block inside the span of the basis has rank 0") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(300, 10, 3);
  auto x = test::random_block<double>(300, 3, 4);
  const auto w = test::random_block<double>(10, 3, 5);
  tsmm(ctx, Op::none, 1.0, v.cview(), w.cview(), 0.0, x.view());
  Matrix<double> s(10, 3), r(3, 3);
  const auto e =
      ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view());
  CHECK(e.rank == 0);
  CHECK(e.dead == 3);
  CHECK(test::distance<double>(s.view(), w.view()) < 100 * test::eps<double>);
}

TEST_CASE("NaN ends in a returned outcome, not in a basis") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(50, 4, 3);
  auto x = test::random_block<double>(50, 3, 4);
  x(7, 1) = std::numeric_limits<double>::quiet_NaN();
  Matrix<double> s(4, 3), r(3, 3);
  CHECK(
      ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view()).rung ==
      ortho::Rung::failed);
}

TEST_CASE("shapes that do not fit are refused") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(50, 4, 3);
  auto x = test::random_block<double>(50, 3, 4);
  Matrix<double> s(3, 3), r(3, 3);
  CHECK_THROWS_AS(
      ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view()),
      Error);
}
