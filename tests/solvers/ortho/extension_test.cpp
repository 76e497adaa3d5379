// One block against a basis, by the default.
#include <limits>

#include "blocks.hpp"
#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

TEST_CASE("a guess of the projection gives the same factorisation", "[short]") {
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
  tsmm(ctx, Op::none, std::complex<double>{1}, all.cview(), both.cview(), std::complex<double>{0}, product.view());
  CHECK(test::distance<std::complex<double>>(product.view(), input.view()) < 100 * test::eps<double>);
  CHECK(ortho::loss_of_orthogonality<std::complex<double>>(ctx, all.view()) < 10 * test::eps<double>);
}

TEST_CASE("a block inside the span of the basis has rank 0", "[short]") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(300, 10, 3);
  auto x = test::random_block<double>(300, 3, 4);
  const auto w = test::random_block<double>(10, 3, 5);
  tsmm(ctx, Op::none, 1.0, v.cview(), w.cview(), 0.0, x.view());
  Matrix<double> s(10, 3), r(3, 3);
  const auto e = ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view());
  CHECK(e.rank == 0);
  CHECK(e.dead == 3);
  CHECK(test::distance<double>(s.view(), w.view()) < 100 * test::eps<double>);
}

TEST_CASE("a wrong guess for a block inside of the span leaves no noise behind", "[short]") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(30, 22, 3);
  const auto w = test::random_block<double>(22, 8, 5);
  auto x = test::random_block<double>(30, 8, 4);
  tsmm(ctx, Op::none, 1.0, v.cview(), w.cview(), 0.0, x.view());
  auto guess = Matrix<double>::copy_of(w.cview());
  for (index_t i = 0; i < 22; ++i)
    for (index_t j = 0; j < 8; ++j) guess(i, j) *= 1 + 1e-9 * static_cast<double>(i + 3 * j % 5);
  Matrix<double> r(8, 8);
  const auto e =
      ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), guess.view(), r.view(), true);
  CHECK(e.rank == 0);
  CHECK(test::distance<double>(guess.view(), w.view()) < 100 * test::eps<double>);
}

TEST_CASE("a short column next to a long one takes no digits from it", "[short]") {
  // The short one is the direction of the long one but for a share that is noise in it, not in the long one.
  const Context ctx;
  auto x = test::random_block<double>(200, 2, 7);
  for (index_t i = 0; i < 200; ++i) x(i, 1) = 1e-11 * (x(i, 0) + 1e-4 * x(i, 1));
  const auto input = Matrix<double>::copy_of(x.cview());
  Matrix<double> r(2, 2), product(200, 2);
  ortho::Tall<double> tall(ctx);
  const auto f = ortho::detail::factorise<double>(tall, ortho::Svqb{2e-14}, x.view(), r.view());
  REQUIRE(f.rank == 1);
  tsmm(ctx, Op::none, 1.0, x.cview().cols(0, 1), r.cview().rows(0, 1), 0.0, product.view());
  CHECK(test::distance<double>(product.view(), input.view()) < test::allowed::long_sum);
}

TEST_CASE("NaN ends in a returned outcome, not in a basis", "[short]") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(50, 4, 3);
  auto x = test::random_block<double>(50, 3, 4);
  x(7, 1) = std::numeric_limits<double>::quiet_NaN();
  Matrix<double> s(4, 3), r(3, 3);
  CHECK(ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view()).rung ==
        ortho::Rung::failed);
}

TEST_CASE("shapes that do not fit are refused", "[short]") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(50, 4, 3);
  auto x = test::random_block<double>(50, 3, 4);
  Matrix<double> s(3, 3), r(3, 3);
  CHECK_THROWS_AS(ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view()),
                  Error);
}
