// Matrices of known singular values, and what is asked of a result.
#pragma once

#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/solvers/svd/svd.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

/// diag(s^i) times the unit upper triangle with -c above its diagonal, for s = sin 1.2 and c = cos 1.2: nearly
/// singular, though no diagonal entry, pivot or column says so. Source: W. Kahan, Numerical linear algebra, Canadian
/// Math. Bulletin 9 (1966).
template <class T>
Matrix<T> kahan(index_t n) {
  return matrix_of<T>(n, n, [](index_t i, index_t j) {
    return j < i ? T{} : T(std::pow(std::sin(1.2), static_cast<double>(i)) * (i == j ? 1 : -std::cos(1.2)));
  });
}

/// m x n with the given singular values and random orthonormal vectors.
template <class T>
Matrix<T> with_singular_values(index_t m, index_t n, const std::vector<double>& sigma) {
  const auto k = static_cast<index_t>(sigma.size());
  Matrix<T> u(m, k), v(n, k), r(k, k);
  solvers::fill_random<T>(Context{}, 1, 0, u.view());
  solvers::fill_random<T>(Context{}, 1, 1, v.view());
  ortho::orthonormalise<T>(Context{}, ortho::Ladder{}, u.view(), r.view());
  ortho::orthonormalise<T>(Context{}, ortho::Ladder{}, v.view(), r.view());
  return matrix_of<T>(m, n, [&](index_t i, index_t j) {
    T sum{};
    for (index_t l = 0; l < k; ++l) sum += u(i, l) * sigma[static_cast<std::size_t>(l)] * conjugate(v(j, l));
    return sum;
  });
}

template <class T>
void check(const solvers::SvdResult<T>& r, const std::vector<double>& exact, double tolerance) {
  const auto& t = r.triplets;
  INFO(t.reason);
  CHECK(t.converged);
  CHECK(t.verified);
  REQUIRE(t.values.size() == exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(std::abs(t.values[i] - exact[i]) <= tolerance);
  CHECK(t.orthogonality_loss < test::allowed::many_steps);
}

}  // namespace ts::test
