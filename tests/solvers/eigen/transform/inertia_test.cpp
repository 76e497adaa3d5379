#include "tallskinny/solvers/eigen/transform/inertia.hpp"

#include <complex>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/tests/solvers/eigen/graded.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using solvers::Which;
using test::graded_tridiagonal;

TEST_CASE("counts below shifts") {
  const auto a = generators::hypercube(6);  // 0, 2 (6 times), 4 (15), 6 (20), ...
  const solvers::InertiaCounter<double> count(a.view(), 0);
  CHECK(count(-1, 0.5) == 0);
  CHECK(count(1, 0.5) == 1);
  CHECK(count(3, 0.5) == 7);
  CHECK(count(5, 0.5) == 22);
  CHECK(count(13, 0.5) == 64);
  CHECK(count(3, 0) == 7);  // no eigenvalue is so near that the error of the factors matters
  CHECK_FALSE(count(2 + 1e-15, 1e-18));
  CHECK_FALSE(solvers::InertiaCounter<double>(a.view(), 10)(3, 0.5));

  const auto ring = generators::flux_ring(50, 0.4);
  const auto spectrum = generators::flux_ring_spectrum(50, 0.4).all();
  CHECK(solvers::InertiaCounter<std::complex<double>>(ring.view(), 0)(0.5 * (spectrum[8] + spectrum[9]), 1e-6) == 9);
}

TEST_CASE("a count tells a complete set from one that lacks a copy") {
  const auto a = generators::hypercube(6);
  const solvers::InertiaCounter<double> count(a.view(), 0);
  solvers::FoundSet found;
  found.n = 64, found.norm = 12;
  found.values = {0, 2, 2, 2, 2, 2, 2};
  found.errors.assign(7, 1e-12);
  found.next_low = 4, found.next_high = 12;
  CHECK(solvers::count_ends(found, Which::SA, {7, 0}, count).apart);
  found.values.back() = 4;  // a copy of 2 was missed
  CHECK_FALSE(solvers::count_ends(found, Which::SA, {7, 0}, count).complete);
  found.values = {0, 2, 2, 2}, found.errors.resize(4), found.next_low = 2;  // the set cuts the cluster
  CHECK(solvers::count_ends(found, Which::SA, {4, 0}, count).complete);
  found.next_low = 4;  // as it looks to a search without a column to spare for more copies
  const auto cut = solvers::count_ends(found, Which::SA, {4, 0}, count);
  CHECK((cut.complete && !cut.apart));
}

TEST_CASE("rows of many orders are brought to one size before they are factorised") {
  const index_t n = 200;
  const auto graded = graded_tridiagonal(n, 4);
  const solvers::InertiaCounter<double> count(graded.matrix.view(), 0);
  for (double shift = 1e-7; shift < 1e8; shift *= 31) {
    CAPTURE(shift);
    CHECK(count(shift, 0) == graded.below(shift));
  }
  // The norm is 2e8; no shift of a pencil beside it would be told from zero.
  const solvers::ShiftInvert<double> inverse(graded.matrix.view(), 3e-6);
  CHECK(inverse.sigma() == 3e-6);
}

TEST_CASE("which of the sorted values are wanted") {
  const std::vector<double> v = {-5, -1, 0, 2, 6};
  const auto ends = [&](Which which, index_t k) {
    const auto e = solvers::wanted_ends(v, which, k);
    return std::pair(e.low, e.high);
  };
  CHECK(ends(Which::LA, 2) == std::pair<index_t, index_t>(0, 2));
  CHECK(ends(Which::SA, 2) == std::pair<index_t, index_t>(2, 0));
  CHECK(ends(Which::LM, 3) == std::pair<index_t, index_t>(1, 2));
  CHECK(ends(Which::BE, 3) == std::pair<index_t, index_t>(1, 2));
  CHECK(ends(Which::LA, 9) == std::pair<index_t, index_t>(0, 5));
  const auto t = solvers::thresholds(v, Which::LM, {1, 2});
  CHECK(t.low == -2);
  CHECK(t.high == 2);
}

TEST_CASE("a shift that is an eigenvalue is moved, and the inverse is one") {
  const auto a = generators::laplacian({40}, generators::Boundary::neumann);
  const solvers::ShiftInvert<double> inverse(a.view(), 0);
  CHECK_FALSE(inverse.note().empty());
  CHECK(inverse.sigma() != 0);
  Matrix<double> x(40, 2), y(40, 2), back(40, 2);
  for (index_t i = 0; i < 40; ++i) x(i, 0) = i % 3 - 1.0, x(i, 1) = i == 5;
  inverse.apply(Context{}, x.view(), y.view());
  spmm(Context{}, Op::none, 1.0, a.view(), y.cview(), 0.0, back.view());
  for (index_t i = 0; i < 40; ++i)
    CHECK(std::abs(back(i, 1) - inverse.sigma() * y(i, 1) - x(i, 1)) < test::allowed::six_digits);

  const auto dense = generators::minij(30);
  const solvers::DenseShiftInvert<double> near(dense.view(), 1);
  CHECK(near.note().empty());
  CHECK(near.sigma() == 1);
}
