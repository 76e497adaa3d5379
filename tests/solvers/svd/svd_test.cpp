#include "tallskinny/solvers/svd/svd.hpp"

#include <cmath>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/krylov.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::SvdStage;

namespace {

/// m x n with the given singular values and random orthonormal vectors.
template <class T>
Matrix<T> with_singular_values(index_t m, index_t n, const std::vector<double>& sigma) {
  const auto k = static_cast<index_t>(sigma.size());
  Matrix<T> u(m, k), v(n, k), r(k, k);
  solvers::fill_random<T>(Context{}, 1, 0, u.view());
  solvers::fill_random<T>(Context{}, 1, 1, v.view());
  ortho::orthonormalise<T>(Context{}, ortho::Ladder{}, u.view(), r.view());
  ortho::orthonormalise<T>(Context{}, ortho::Ladder{}, v.view(), r.view());
  auto a = Matrix<T>::zeros(m, n);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j)
      for (index_t l = 0; l < k; ++l)
        a(i, j) += u(i, l) * sigma[static_cast<std::size_t>(l)] * conjugate(v(j, l));
  return a;
}

template <class T>
void check(const solvers::SvdResult<T>& r, const std::vector<double>& exact, double tolerance) {
  const auto& t = r.triplets;
  INFO(t.reason);
  CHECK(t.converged);
  CHECK(t.verified);
  REQUIRE(t.values.size() == exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(std::abs(t.values[i] - exact[i]) <= tolerance);
  CHECK(t.orthogonality_loss < 1e-12);
}

solvers::EigenOptions options_for(index_t k) {
  solvers::EigenOptions o;
  o.nev = k;
  return o;
}

}  // namespace

TEST_CASE("tall dense matrices through their Gram matrix") {
  const std::vector<double> sigma = {5, 4, 4, 3, 2, 1};
  const auto a = with_singular_values<double>(400, 6, sigma);
  const solvers::SvdProblem<double> problem{solvers::rectangular<double>(a.cview()), a.cview()};
  auto r = solvers::solve_svd<double>(Context{}, problem, options_for(4));
  check(r, {5, 4, 4, 3}, 1e-12);
  CHECK(r.stage == SvdStage::gram);
  CHECK(r.triplets.multiplicities[1] == 2);
  CHECK(r.left.rows() == 400);
  CHECK(r.triplets.vectors.rows() == 6);
  check(solvers::solve_svd<double>(Context{}, problem, options_for(99)), sigma, 1e-12);
}

TEST_CASE("what the squares cannot resolve takes the triangular factor") {
  const std::vector<double> sigma = {1, 1e-3, 1e-6, 3e-9, 1e-9, 3e-13};
  const auto a = with_singular_values<double>(300, 6, sigma);
  const auto r = solvers::solve_svd<double>(Context{}, {solvers::rectangular<double>(a.cview()), a.cview()},
                                            options_for(6));
  check(r, sigma, 1e-15);
  CHECK(r.stage == SvdStage::triangular);
  CHECK(r.triplets.values[4] == Approx(1e-9).epsilon(1e-5));

  // Rank 2 of 5: the vectors of the zero singular values are orthonormal all the same.
  const auto low = with_singular_values<double>(80, 5, {2, 1});
  check(solvers::solve_svd<double>(Context{}, {solvers::rectangular<double>(low.cview()), low.cview()},
                                   options_for(5)),
        {2, 1, 0, 0, 0}, 1e-14);
  const auto zero = Matrix<double>::zeros(50, 3);
  check(solvers::solve_svd<double>(Context{}, {solvers::rectangular<double>(zero.cview()), zero.cview()},
                                   options_for(2)),
        {0, 0}, 0);
}

TEST_CASE("wide and complex matrices") {
  const std::vector<double> sigma = {7, 3, 1, 0.5};
  const auto a = with_singular_values<std::complex<double>>(20, 500, sigma);
  const auto r = solvers::solve_svd<std::complex<double>>(
      Context{}, {solvers::rectangular<std::complex<double>>(a.cview()), a.cview()}, options_for(3));
  check(r, {7, 3, 1}, 1e-12);
  CHECK(r.left.rows() == 20);
  CHECK(r.triplets.vectors.rows() == 500);
}

TEST_CASE("sparse matrices, with many copies and with tiny singular values") {
  const auto ring = generators::laplacian({900}, generators::Boundary::ring);  // sigma = lambda: pairs
  auto r = solvers::solve_svd<double>(Context{}, {solvers::rectangular<double>(ring.view())}, options_for(6));
  auto exact = generators::laplacian_spectrum({900}, generators::Boundary::ring).largest(6);
  std::reverse(exact.begin(), exact.end());
  check(r, exact, 1e-7);
  CHECK(r.stage == SvdStage::gram);

  // One large singular value above many copies of mu, which the squares know to 1e-16 / mu^2.
  const auto lauchli = generators::lauchli(400, 1e-9);
  r = solvers::solve_svd<double>(Context{}, {solvers::rectangular<double>(lauchli.view())}, options_for(3));
  check(r, {20, 1e-9, 1e-9}, 1e-12);
  CHECK(r.stage == SvdStage::augmented);
}

TEST_CASE("centring without forming the centred matrix") {
  auto a = with_singular_values<double>(200, 5, {3, 2, 1});
  for (index_t i = 0; i < 200; ++i)
    for (index_t j = 0; j < 5; ++j) a(i, j) += 10.0 * static_cast<double>(j);
  const auto plain = solvers::rectangular<double>(a.cview());
  const auto mu = solvers::column_means<double>(Context{}, plain);
  const auto implicit =
      solvers::solve_svd<double>(Context{}, {solvers::centred<double>(plain, mu)}, options_for(2));
  for (index_t i = 0; i < 200; ++i)
    for (index_t j = 0; j < 5; ++j) a(i, j) -= mu[static_cast<std::size_t>(j)];
  const auto formed = solvers::solve_svd<double>(Context{}, {plain, a.cview()}, options_for(2));
  check(implicit, formed.triplets.values, 1e-12);
}
