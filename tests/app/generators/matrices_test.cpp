// Every closed form against a dense solver that knows nothing of it.
#include "tallskinny/app/generators/matrices.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <functional>

#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::generators;

namespace {

template <class T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> dense(const CsrMatrix<T>& a) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> d =
      Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>::Zero(a.rows, a.cols);
  REQUIRE(std::ssize(a.pointers) == a.rows + 1);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[static_cast<std::size_t>(i)]; e < a.pointers[static_cast<std::size_t>(i) + 1];
         ++e) {
      const index_t j = a.indices[static_cast<std::size_t>(e)];
      REQUIRE((j >= 0 && j < a.cols));
      if (e > a.pointers[static_cast<std::size_t>(i)])
        REQUIRE(j > a.indices[static_cast<std::size_t>(e) - 1]);
      d(i, j) += a.values[static_cast<std::size_t>(e)];
    }
  return d;
}

Eigen::MatrixXd dense(const Matrix<double>& a) {
  Eigen::MatrixXd d(a.rows(), a.cols());
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) d(i, j) = a(i, j);
  return d;
}

/// Whether the eigenvalues of the Hermitian `a` are the `expected`, to a small multiple of n eps |A|.
template <class D>
void check_hermitian(const D& a, const Spectrum& spectrum) {
  REQUIRE(a.rows() == a.cols());
  CHECK((a - a.adjoint()).norm() == 0);
  const auto expected = spectrum.all();
  REQUIRE(std::ssize(expected) == a.rows());
  CHECK(std::is_sorted(expected.begin(), expected.end()));
  if (a.rows() == 0) return;
  const Eigen::VectorXd found = Eigen::SelfAdjointEigenSolver<D>(a, Eigen::EigenvaluesOnly).eigenvalues();
  const double scale = std::max({1.0, std::fabs(expected.front()), std::fabs(expected.back())});
  double error = 0;
  for (index_t i = 0; i < a.rows(); ++i)
    error = std::max(error, std::fabs(found[i] - expected[static_cast<std::size_t>(i)]));
  CHECK(error <= 4 * static_cast<double>(a.rows()) * test::eps<double> * scale);
}

/// Pairs each expected value with the nearest found one that is still free.
double matching_error(std::vector<std::complex<double>> expected, Eigen::VectorXcd found) {
  double worst = 0;
  std::vector<std::complex<double>> free(found.data(), found.data() + found.size());
  for (const auto& value : expected) {
    const auto nearest = std::min_element(free.begin(), free.end(), [&](const auto& x, const auto& y) {
      return std::abs(x - value) < std::abs(y - value);
    });
    worst = std::max(worst, std::abs(*nearest - value));
    free.erase(nearest);
  }
  return worst;
}

}  // namespace

TEST_CASE("grid Laplacians have the closed-form spectrum, at every boundary and in the smallest sizes") {
  for (const Boundary boundary : {Boundary::dirichlet, Boundary::neumann, Boundary::ring})
    for (const auto& sizes : std::vector<std::vector<index_t>>{
             {0}, {1}, {2}, {3}, {60}, {1, 1}, {2, 3}, {7, 9}, {1, 5, 2}, {4, 4, 4}, {3, 2, 2, 3}}) {
      CAPTURE(static_cast<int>(boundary), sizes);
      check_hermitian(dense(laplacian(sizes, boundary)), laplacian_spectrum(sizes, boundary));
    }
}

TEST_CASE("copies, hypercubes and complete graphs have the closed-form spectrum") {
  check_hermitian(dense(laplacian_copies(4, 15)), laplacian_copies_spectrum(4, 15));
  check_hermitian(dense(laplacian_copies(3, 8, Boundary::ring)),
                  laplacian_copies_spectrum(3, 8, Boundary::ring));
  for (const int d : {0, 1, 2, 7}) check_hermitian(dense(hypercube(d)), hypercube_spectrum(d));
  for (const index_t n : {0, 1, 2, 40}) check_hermitian(dense(complete_graph(n)), complete_graph_spectrum(n));
}

TEST_CASE("lattice models have the closed-form spectrum") {
  for (const auto& [lx, ly] : std::vector<std::pair<index_t, index_t>>{{1, 1}, {2, 1}, {3, 3}, {6, 5}})
    check_hermitian(dense(graphene(lx, ly)), graphene_spectrum(lx, ly));
  for (const index_t n : {1, 2, 3, 60}) {
    check_hermitian(dense(flux_ring(n, 0.3)), flux_ring_spectrum(n, 0.3));
    check_hermitian(dense(flux_ring(n, -4.0)), flux_ring_spectrum(n, -4.0));
  }
  for (const int length : {0, 1, 2, 3, 8})
    check_hermitian(dense(xx_chain(length)), xx_chain_spectrum(length));
}

TEST_CASE("graphene has four zero modes exactly when 3 divides its sides") {
  const auto zeros = [](index_t lx, index_t ly) {
    int count = 0;
    for (const double value : graphene_spectrum(lx, ly).all()) count += std::fabs(value) < 1e-12 ? 1 : 0;
    return count;
  };
  CHECK(zeros(24, 24) == 4);
  CHECK(zeros(25, 24) == 0);
}

TEST_CASE("symmetric matrices of the literature have the closed-form spectrum") {
  for (const index_t n : {0, 1, 2, 3, 50}) {
    CAPTURE(n);
    check_hermitian(dense(identity(n)), identity_spectrum(n));
    check_hermitian(dense(clement(n)), clement_spectrum(n));
    check_hermitian(dense(sakurai(n)), sakurai_spectrum(n));
    check_hermitian(dense(minij(n)), minij_spectrum(n));
    check_hermitian(dense(diagonal_clusters(n, 3, 1e-3)), diagonal_clusters_spectrum(n, 3, 1e-3));
  }
}

TEST_CASE("clusters lie where they were asked for") {
  const auto values = diagonal_clusters_spectrum(10, 3, 0.5).all();
  CHECK(values == std::vector<double>{0.75, 0.75 + 0.5 / 3, 0.75 + 0.5 * 2 / 3, 1.25, 1.75, 2.0, 2.25, 2.75,
                                      3.0, 3.25});
}

TEST_CASE("Mikota's pencil has the squares as eigenvalues") {
  const index_t n = 30;
  const Pencil pencil = mikota(n);
  const Eigen::MatrixXd k = dense(pencil.stiffness), m = dense(pencil.mass);
  const Eigen::VectorXd found =
      Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(k, m, Eigen::EigenvaluesOnly).eigenvalues();
  const auto expected = mikota_spectrum(n).all();
  for (index_t j = 0; j < n; ++j)
    CHECK(std::fabs(found[j] - expected[static_cast<std::size_t>(j)]) <=
          1e-12 * expected[static_cast<std::size_t>(j)] * static_cast<double>(n));
}

TEST_CASE("nonsymmetric Toeplitz and circulant matrices have the closed-form spectrum") {
  for (const double above : {2.0, -2.0}) {
    const Eigen::MatrixXd a = dense(toeplitz(20, 1, -3.5, above));
    CHECK(matching_error(toeplitz_spectrum(20, 1, -3.5, above), a.eigenvalues()) < 1e-10);
  }
  for (const index_t width : {1, 4, 31}) {
    const auto c = random_coefficients(width, 7);
    const Eigen::MatrixXd a = dense(circulant(31, c));
    CHECK(matching_error(circulant_spectrum(31, c), a.eigenvalues()) < 1e-12);
  }
  CHECK(circulant(3, {1, 2, 3, 4}).nonzeros() == 9);
  CHECK(random_coefficients(3, 1) != random_coefficients(3, 2));
}

TEST_CASE("Lauchli's matrix has the closed-form singular values") {
  for (const index_t n : {1, 20}) {
    const Eigen::MatrixXd a = dense(lauchli(n, 1e-7));
    CHECK(a.rows() == n + 1);
    const Eigen::VectorXd found = a.jacobiSvd().singularValues().reverse();
    const auto expected = lauchli_singular_values(n, 1e-7).all();
    for (index_t j = 0; j < n; ++j)
      CHECK(std::fabs(found[j] - expected[static_cast<std::size_t>(j)]) < 1e-14 * std::sqrt(n + 1.0));
  }
}

TEST_CASE("matrices without a closed form have the properties that are known") {
  const Eigen::MatrixXd w = dense(wilkinson(10));
  const Eigen::VectorXd pairs = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(w).eigenvalues();
  CHECK(std::fabs(pairs[20] - 10.746194182903) < 1e-12);
  CHECK(std::fabs(pairs[20] - pairs[19]) < 1e-12);

  Eigen::VectorXcd f = dense(frank(12)).eigenvalues();
  std::vector<double> values;
  for (index_t i = 0; i < 12; ++i) values.push_back(f[i].real());
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < 12; ++i) CHECK(std::fabs(values[i] * values[11 - i] - 1) < 1e-5);

  const Eigen::MatrixXd disorder = dense(anderson({4, 5, 3}, 8, 3)),
                        hopping = dense(anderson({4, 5, 3}, 0, 3));
  CHECK((disorder - disorder.transpose()).norm() == 0);
  CHECK(hopping.sum() == -6.0 * 60);
  CHECK(disorder.diagonal().cwiseAbs().maxCoeff() <= 4);
  CHECK(disorder.diagonal().cwiseAbs().maxCoeff() > 3);

  const Eigen::MatrixXcd torus = dense(hofstadter(5, 4, 2));
  CHECK((torus - torus.adjoint()).norm() == 0);
  CHECK(std::abs(torus.trace()) == 0);
  CHECK(std::fabs((torus * torus).trace().real() - 4 * 20) < 1e-12);
}
