// Every closed form against a dense solver that knows nothing of it.
#include "tallskinny/app/generators/matrices.hpp"

#include "tallskinny/solvers/eigen/small/schur.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::generators;

namespace {

template <class T>
Matrix<T> dense(const CsrMatrix<T>& a) {
  auto d = Matrix<T>::zeros(a.rows, a.cols);
  REQUIRE(std::ssize(a.pointers) == a.rows + 1);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[static_cast<std::size_t>(i)]; e < a.pointers[static_cast<std::size_t>(i) + 1]; ++e) {
      const index_t j = a.indices[static_cast<std::size_t>(e)];
      REQUIRE((j >= 0 && j < a.cols));
      if (e > a.pointers[static_cast<std::size_t>(i)]) REQUIRE(j > a.indices[static_cast<std::size_t>(e) - 1]);
      d(i, j) += a.values[static_cast<std::size_t>(e)];
    }
  return d;
}

template <class T>
bool is_hermitian(const Matrix<T>& a) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j <= i; ++j)
      if (a(i, j) != conjugate(a(j, i))) return false;
  return true;
}

/// Checks that the eigenvalues of the Hermitian `a` are the `expected`, to a small multiple of n eps |A|.
template <class T>
void check_hermitian(const Matrix<T>& a, const Spectrum& spectrum) {
  REQUIRE(a.rows() == a.cols());
  CHECK(is_hermitian(a));
  const auto expected = spectrum.all();
  REQUIRE(std::ssize(expected) == a.rows());
  CHECK(std::is_sorted(expected.begin(), expected.end()));
  if (a.rows() == 0) return;
  const auto found = ortho::hermitian_eigen<T>(a.cview()).values;
  const double scale = std::max({1.0, std::fabs(expected.front()), std::fabs(expected.back())});
  double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) error = std::max(error, std::fabs(found[i] - expected[i]));
  CHECK(error <= 4 * static_cast<double>(a.rows()) * test::eps<double> * scale);
}

/// The eigenvalues of a matrix that need not be symmetric.
std::vector<std::complex<double>> eigenvalues(const Matrix<double>& a) {
  const auto schur = solvers::schur_of<double>(a.cview());
  std::vector<std::complex<double>> values;
  for (index_t i = 0; i < schur.size(); ++i) values.push_back(schur.value(i));
  return values;
}

/// Pairs each expected value with the nearest found one that is still free.
double matching_error(const std::vector<std::complex<double>>& expected, std::vector<std::complex<double>> free) {
  double worst = 0;
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
  check_hermitian(dense(laplacian_copies(3, 8, Boundary::ring)), laplacian_copies_spectrum(3, 8, Boundary::ring));
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
  for (const int length : {0, 1, 2, 3, 8}) check_hermitian(dense(xx_chain(length)), xx_chain_spectrum(length));
}

TEST_CASE("graphene has four zero modes exactly when 3 divides its sides") {
  const auto zeros = [](index_t lx, index_t ly) {
    int count = 0;
    for (const double value : graphene_spectrum(lx, ly).all()) count += std::fabs(value) < allowed::many_steps ? 1 : 0;
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
    check_hermitian(minij(n), minij_spectrum(n));
    check_hermitian(dense(diagonal_clusters(n, 3, 1e-3)), diagonal_clusters_spectrum(n, 3, 1e-3));
  }
}

TEST_CASE("clusters lie where they were asked for") {
  const auto values = diagonal_clusters_spectrum(10, 3, 0.5).all();
  CHECK(values ==
        std::vector<double>{0.75, 0.75 + 0.5 / 3, 0.75 + 0.5 * 2 / 3, 1.25, 1.75, 2.0, 2.25, 2.75, 3.0, 3.25});
}

TEST_CASE("Mikota's pencil has the squares as eigenvalues") {
  const index_t n = 30;
  const Pencil pencil = mikota(n);
  // K x = lambda M x with M = R^T R: the eigenvalues of R^-T K R^-1, made by two solves from the left.
  Matrix<double> k = dense(pencil.stiffness), r = dense(pencil.mass), turned(n, n);
  CHECK(is_hermitian(k));
  CHECK(is_hermitian(r));
  REQUIRE(ortho::cholesky<double>(r.view()));
  const auto solve_transposed = [&](Matrix<double>& b) {
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) {
        for (index_t l = 0; l < i; ++l) b(i, j) -= r(l, i) * b(l, j);
        b(i, j) /= r(i, i);
      }
  };
  solve_transposed(k);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) turned(i, j) = k(j, i);
  solve_transposed(turned);
  const auto found = ortho::hermitian_eigen<double>(turned.cview()).values;
  const auto expected = mikota_spectrum(n).all();
  for (std::size_t j = 0; j < expected.size(); ++j)
    CHECK(std::fabs(found[j] - expected[j]) <= allowed::many_steps * expected[j] * static_cast<double>(n));
}

TEST_CASE("nonsymmetric Toeplitz and circulant matrices have the closed-form spectrum") {
  for (const double above : {2.0, -2.0}) {
    const auto found = eigenvalues(dense(toeplitz(20, 1, -3.5, above)));
    CHECK(matching_error(toeplitz_spectrum(20, 1, -3.5, above), found) < allowed::tight_run);
  }
  for (const index_t width : {1, 4, 31}) {
    const auto c = random_coefficients(width, 7);
    CHECK(matching_error(circulant_spectrum(31, c), eigenvalues(dense(circulant(31, c)))) < allowed::many_steps);
  }
  CHECK(circulant(3, {1, 2, 3, 4}).nonzeros() == 9);
  CHECK(random_coefficients(3, 1) != random_coefficients(3, 2));
}

TEST_CASE("Lauchli's matrix has the closed-form singular values") {
  for (const index_t n : {1, 20}) {
    const auto a = dense(lauchli(n, 1e-7));
    CHECK(a.rows() == n + 1);
    auto found = ortho::svd<double>(a.cview()).values;
    std::reverse(found.begin(), found.end());
    const auto expected = lauchli_singular_values(n, 1e-7).all();
    REQUIRE(expected.size() == found.size());
    for (std::size_t j = 0; j < found.size(); ++j)
      CHECK(std::fabs(found[j] - expected[j]) < allowed::short_sum * std::sqrt(n + 1.0));
  }
}

TEST_CASE("matrices without a closed form have the properties that are known") {
  const auto pairs = ortho::hermitian_eigen<double>(dense(wilkinson(10)).cview()).values;
  CHECK(std::fabs(pairs[20] - 10.746194182903) < allowed::many_steps);
  CHECK(std::fabs(pairs[20] - pairs[19]) < allowed::many_steps);

  std::vector<double> values;
  for (const auto& value : eigenvalues(frank(12))) values.push_back(value.real());
  REQUIRE(values.size() == 12);
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < 12; ++i) CHECK(std::fabs(values[i] * values[11 - i] - 1) < allowed::single);

  const auto disorder = dense(anderson({4, 5, 3}, 8, 3)), hopping = dense(anderson({4, 5, 3}, 0, 3));
  CHECK(is_hermitian(disorder));
  double sum = 0, largest = 0;
  for (index_t i = 0; i < hopping.rows(); ++i) {
    for (index_t j = 0; j < hopping.cols(); ++j) sum += hopping(i, j);
    largest = std::max(largest, std::fabs(disorder(i, i)));
  }
  CHECK(sum == -6.0 * 60);
  CHECK(largest <= 4);
  CHECK(largest > 3);

  const auto torus = dense(hofstadter(5, 4, 2));
  CHECK(is_hermitian(torus));
  std::complex<double> trace = 0;
  double squares = 0;  // the trace of the square of a Hermitian matrix
  for (index_t i = 0; i < torus.rows(); ++i) {
    trace += torus(i, i);
    for (index_t j = 0; j < torus.cols(); ++j) squares += std::norm(torus(i, j));
  }
  CHECK(std::abs(trace) == 0);
  CHECK(std::fabs(squares - 4 * 20) < allowed::many_steps);
}
