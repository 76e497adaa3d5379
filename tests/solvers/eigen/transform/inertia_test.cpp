#include "tallskinny/solvers/eigen/transform/inertia.hpp"
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/eigen/result/pencil.hpp"
#include "tallskinny/solvers/eigen/transform/mass.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

namespace {

/// The standard form of a sparse pencil, with everything that a selection may ask for.
template <class T>
EigenProblem<T> standard_form(const CsrMatrix<T>& a, const CsrMatrix<T>& m, const solvers::MassFactor<T>& factor) {
  EigenProblem<T> p{factor.standard(solvers::CsrOperator<T>(a.view()))};
  p.count_below = solvers::InertiaCounter<T>(a.view(), 0, m.view(), factor.least());
  p.invert = [&, factor](double sigma) -> std::optional<solvers::ShiftedInverse<T>> {
    const solvers::ShiftInvert<T> inverse(a.view(), sigma, m.view());
    return solvers::ShiftedInverse<T>{factor.standard_inverse(inverse), inverse.sigma()};
  };
  return p;
}

/// The consistent mass matrix of linear elements, tridiagonal (1, 4, 1) / 6; with the Laplacian of a line
/// lambda = 6 (1 - c) / (2 + c), c = cos(j pi / (n + 1)).
CsrMatrix<double> consistent_mass(index_t n) {
  auto m = generators::laplacian({n});
  for (double& v : m.values) v = v > 0 ? 4.0 / 6 : 1.0 / 6;
  return m;
}

double element_eigenvalue(index_t n, index_t j) {
  const double c = std::cos(static_cast<double>(j) * M_PI / static_cast<double>(n + 1));
  return 6 * (1 - c) / (2 + c);
}

/// The sine of the angle between column j of X and the eigenvector sin(k i pi / (n + 1)), in the norm of M.
double sine_in_mass(const Matrix<double>& x, index_t j, index_t k, const CsrMatrix<double>& m) {
  const index_t n = x.rows();
  Matrix<double> both(n, 2), image(n, 2);
  for (index_t i = 0; i < n; ++i) {
    both(i, 0) = x(i, j);
    both(i, 1) = std::sin(static_cast<double>(k * (i + 1)) * M_PI / static_cast<double>(n + 1));
  }
  const auto inner = [&](index_t p, index_t q) {
    spmm(Context{}, Op::none, 1.0, m.view(), both.cview(), 0.0, image.view());
    double sum = 0;
    for (index_t i = 0; i < n; ++i) sum += both(i, p) * image(i, q);
    return sum;
  };
  const double length = std::sqrt(inner(1, 1));
  for (index_t i = 0; i < n; ++i) both(i, 1) /= length;
  const double along = inner(1, 0);
  for (index_t i = 0; i < n; ++i) both(i, 0) -= along * both(i, 1);
  return std::sqrt(inner(0, 0));
}

}  // namespace

TEST_CASE("counts below shifts") {
  const auto a = generators::hypercube(6);  // 0, 2 (6 times), 4 (15), 6 (20), ...
  const solvers::InertiaCounter<double> count(a.view(), 0);
  for (const auto& [at, below] : {std::pair<double, index_t>{-1, 0}, {1, 1}, {3, 7}, {5, 22}, {13, 64}})
    CHECK(count(at, 0.5) == below);
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
  solvers::FoundSet found{.n = 64, .norm = 12, .values = {0, 2, 2, 2, 2, 2, 2}};
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
    CHECK(std::abs(back(i, 1) - inverse.sigma() * y(i, 1) - x(i, 1)) < allowed::six_digits);

  const auto dense = generators::minij(30);
  const solvers::DenseShiftInvert<double> near(dense.view(), 1);
  CHECK(near.note().empty());
  CHECK(near.sigma() == 1);
}

TEST_CASE("pencils with a diagonal and with a tridiagonal mass matrix") {
  for (const index_t n : {30, 700}) {
    const auto a = generators::laplacian({n});
    const auto m = consistent_mass(n);
    const solvers::MassFactor<double> factor(m.view());
    CHECK(factor.least() > 0.3);
    CHECK(factor.least() < 0.5);
    const auto problem = standard_form(a, m, factor);
    EigenOptions options{.nev = 5};
    for (const auto which : {Which::LA, Which::SA}) {
      options.which = which;
      auto r = solve(problem, options);
      const auto checks =
          solvers::to_pencil<double>(Context{}, solvers::CsrOperator<double>(a.view()), m.view(), factor, options, r);
      CAPTURE(n, static_cast<int>(which), r.reason);
      CHECK(r.verified);
      CHECK(r.orthogonality_loss < allowed::many_steps);
      REQUIRE(r.values.size() == 5);
      for (index_t j = 0; j < 5; ++j) {
        const auto i = static_cast<std::size_t>(j);
        const double exact = element_eigenvalue(n, which == Which::SA ? j + 1 : n - j);
        CHECK(std::abs(r.values[i] - exact) <= r.error_bounds[i]);
        CHECK(checks.backward_errors[i] < allowed::run_of_norm_10);
        CHECK(sine_in_mass(r.vectors, j, which == Which::SA ? j + 1 : n - j, m) <=
              r.vector_errors[i] + allowed::many_steps);
      }
    }
  }
  const auto [k, m] = generators::mikota(400);  // j^2
  const solvers::MassFactor<double> factor(m.view());
  auto problem = standard_form(k, m, factor);
  const auto r = solvers::solve_interval<double>(Context{}, problem, {}, {5000, 6500});
  CHECK(r.verification == solvers::Verification::inertia);
  REQUIRE(r.values.size() == 10);
  for (std::size_t i = 0; i < 10; ++i) {
    const double j = 71 + static_cast<double>(i);
    CHECK(r.values[i] == Approx(j * j).epsilon(allowed::nine_digits));
  }
  const auto inverse = problem.invert(100.5);
  problem.inverse = inverse->inverse, problem.shift = inverse->shift, problem.target = 100.5;
  EigenOptions options{.nev = 3, .which = Which::LM};
  const auto near = solve(problem, options);
  CHECK(near.verified);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(near.values[i] == Approx(std::vector<double>{100, 81, 121}[i]).epsilon(allowed::nine_digits));
}

TEST_CASE("complex pencils, and mass matrices that are none") {
  const auto a = generators::flux_ring(300, 0.3);
  const auto m = csr_by_rows<std::complex<double>>(300, 300, [&](index_t i, auto add) {  // 3 I + A
    add(i, 3);
    for (index_t e = a.pointers[at(i)]; e < a.pointers[at(i + 1)]; ++e) add(a.indices[at(e)], a.values[at(e)]);
  });
  const solvers::MassFactor<std::complex<double>> factor(m.view());
  const auto problem = standard_form(a, m, factor);
  const auto options = options_for(4, Which::LA);
  auto r = solve(problem, options);
  solvers::to_pencil<std::complex<double>>(Context{}, solvers::CsrOperator<std::complex<double>>(a.view()), m.view(),
                                           factor, options, r);
  CHECK(r.verified);
  const auto top = generators::flux_ring_spectrum(300, 0.3).largest(4);  // lambda / (3 + lambda)
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(r.values[i] - top[3 - i] / (3 + top[3 - i])) < allowed::default_run);

  const auto indefinite = generators::clement(20);
  CHECK_THROWS_AS(solvers::MassFactor<double>(indefinite.view()), Error);
  const auto singular = generators::laplacian({20}, generators::Boundary::neumann);
  CHECK_THROWS_AS(solvers::MassFactor<double>(singular.view()), Error);
}
