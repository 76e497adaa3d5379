#include "tallskinny/solvers/ortho/skeleton.hpp"

#include <limits>

#include "hard_matrices.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

namespace {

struct Orthonormalised {
  Matrix<double> v;
  double loss = 0, residual = 0;
  index_t rank = 0;
};

/// Block Gram-Schmidt over all columns, a block of `width` at a time.
Orthonormalised whole(const Matrix<double>& a, index_t width) {
  const Context ctx;
  const index_t n = a.rows(), p = a.cols();
  Orthonormalised out{Matrix<double>(n, p), 0, 0, 0};
  Matrix<double> x(n, width), r(width, width);
  for (index_t j = 0; j < p; j += width) {
    for (index_t i = 0; i < n; ++i)
      for (index_t k = 0; k < width; ++k) x(i, k) = a(i, j + k);
    Matrix<double> s(out.rank, width);
    const auto v = out.v.cview().cols(0, out.rank);
    const auto e = ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v, x.view(), s.view(), r.view());
    REQUIRE(e.rung != ortho::Rung::failed);
    REQUIRE(e.rank + e.dead == width);
    for (index_t i = 0; i < n; ++i)
      for (index_t k = 0; k < e.rank; ++k) out.v(i, out.rank + k) = x(i, k);
    // A = V S + X R
    for (index_t i = 0; i < n; ++i)
      for (index_t k = 0; k < width; ++k) {
        double sum = 0;
        for (index_t l = 0; l < out.rank; ++l) sum += out.v(i, l) * s(l, k);
        for (index_t l = 0; l < e.rank; ++l) sum += x(i, l) * r(l, k);
        out.residual = std::max(out.residual, std::abs(sum - a(i, j + k)));
      }
    out.rank += e.rank;
  }
  out.loss = ortho::loss_of_orthogonality<double>(ctx, out.v.cview().cols(0, out.rank));
  return out;
}

}  // namespace

TEST_CASE("the default block Gram-Schmidt keeps orthogonality on every hard matrix") {
  for (const auto& m : test::hard_matrices()) {
    CAPTURE(m.name);
    double largest = 0;
    for (index_t i = 0; i < m.x.rows(); ++i)
      for (index_t j = 0; j < m.x.cols(); ++j) largest = std::max(largest, std::abs(m.x(i, j)));
    const auto q = whole(m.x, 5);
    CAPTURE(q.rank, q.loss * 1e15);
    CHECK(q.loss <= 1e-14);
    CHECK(q.residual <= 2e3 * unit_roundoff * largest * 10);
  }
}

TEST_CASE("directions that are not there are found and dropped") {
  for (const auto& m : test::hard_matrices()) {
    CAPTURE(m.name);
    const auto q = whole(m.x, 5);
    if (m.name == "duplicate and zero columns") CHECK(q.rank == 88);
    if (m.name == "half zero") CHECK(q.rank == 50);
    if (m.name == "rank 7") CHECK(q.rank == 7);
    if (m.name == "default 1e12" || m.name == "laeuchli -11.000000" || m.name == "glued 12")
      CHECK(q.rank == 100);
  }
}

TEST_CASE("a guess of the projection gives the same factorisation") {
  const Context ctx;
  const auto v = test::random_orthonormal<std::complex<double>>(400, 12, 1);
  auto x = test::random_matrix<std::complex<double>>(400, 4, 2);
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
  const auto v = test::random_orthonormal<double>(300, 10, 3);
  auto x = test::random_matrix<double>(300, 3, 4);
  const auto w = test::random_matrix<double>(10, 3, 5);
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
  const auto v = test::random_orthonormal<double>(50, 4, 3);
  auto x = test::random_matrix<double>(50, 3, 4);
  x(7, 1) = std::numeric_limits<double>::quiet_NaN();
  Matrix<double> s(4, 3), r(3, 3);
  CHECK(
      ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view()).rung ==
      ortho::Rung::failed);
}

TEST_CASE("shapes that do not fit are refused") {
  const Context ctx;
  const auto v = test::random_orthonormal<double>(50, 4, 3);
  auto x = test::random_matrix<double>(50, 3, 4);
  Matrix<double> s(3, 3), r(3, 3);
  CHECK_THROWS_AS(
      ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view()),
      Error);
}
