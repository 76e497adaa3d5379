#include "tallskinny/solvers/eigen/krylov_schur.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/schur.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::Complex;
using solvers::Part;

namespace {

double key(Part part, Complex z) {
  if (part == Part::LM) return -std::abs(z);
  if (part == Part::LR) return -z.real();
  if (part == Part::SR) return z.real();
  return part == Part::LI ? -std::abs(z.imag()) : std::abs(z.imag());
}

solvers::GeneralOptions options_for(index_t nev, Part part, double tol = 1e-8) {
  solvers::GeneralOptions o;
  o.part = part, o.common.nev = nev, o.common.tol = tol;
  return o;
}

/// Every value has its own partner in `exact`, and nothing in `exact` that is not matched comes before the
/// last.
void check(const solvers::GeneralResult& r, std::vector<Complex> exact, Part part, double tolerance) {
  INFO(r.reason);
  CHECK(r.converged);
  CHECK(r.verified);
  double last = -1e300;
  for (const Complex v : r.values) {
    last = std::max(last, key(part, v));
    const auto nearest = std::min_element(
        exact.begin(), exact.end(), [v](Complex a, Complex b) { return std::abs(a - v) < std::abs(b - v); });
    REQUIRE(nearest != exact.end());
    CHECK(std::abs(*nearest - v) <= tolerance);
    exact.erase(nearest);
  }
  for (const Complex v : exact) CHECK(key(part, v) >= last - tolerance);
}

/// A block diagonal matrix with eigenvalues a_i +- i b_i, mixed by an orthogonal similarity of neighbours.
CsrMatrix<double> rotations(const std::vector<Complex>& pairs) {
  CsrMatrix<double> m;
  m.rows = m.cols = 2 * static_cast<index_t>(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto c = static_cast<std::int32_t>(2 * i);
    m.indices.insert(m.indices.end(), {c, c + 1, c, c + 1});
    m.values.insert(m.values.end(),
                    {pairs[i].real(), 2 * pairs[i].imag(), -0.5 * pairs[i].imag(), pairs[i].real()});
    m.pointers.insert(m.pointers.end(), {static_cast<index_t>(4 * i + 2), static_cast<index_t>(4 * i + 4)});
  }
  return m;
}

}  // namespace

TEST_CASE("Schur forms are sorted without separating pairs") {
  const auto f = generators::frank(9);
  Matrix<double> h(8, 8);
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 8; ++j) h(i, j) = f(i, j) - (i == j ? 3.0 : 0.0) + (i == j + 1 ? -5.0 : 0.0);
  auto schur = solvers::schur_of<double>(h.cview());
  solvers::sort_schur(schur, [](Complex z) { return z.real(); });
  index_t at = 0;
  double before = -1e300;
  for (const index_t size : schur.units) {
    CHECK(schur.value(at).real() >= before);
    before = schur.value(at).real();
    if (size == 2) {
      CHECK(std::abs(schur.value(at) - std::conj(schur.value(at + 1))) < 1e-10);
      CHECK(schur.value(at).imag() > 0);
    }
    at += size;
  }
  // U T U^H = H, T triangular.
  const auto ut = ortho::product<Complex>(schur.u.cview(), schur.t.cview());
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 8; ++j) {
      Complex sum = 0;
      for (index_t k = 0; k < 8; ++k) sum += ut(i, k) * std::conj(schur.u(j, k));
      CHECK(std::abs(sum - h(i, j)) < 1e-12);
      if (j < i) CHECK(std::abs(schur.t(i, j)) < 1e-13);
    }
  const auto pairs = solvers::eigenvectors_of(schur, 8);
  for (index_t j = 0; j < 8; ++j)
    for (index_t i = 0; i < 8; ++i) {
      Complex sum = 0;
      for (index_t k = 0; k < 8; ++k) sum += h(i, k) * pairs.vectors(k, j);
      CHECK(std::abs(sum - schur.value(j) * pairs.vectors(i, j)) < 1e-11);
    }
}

TEST_CASE("circulant matrices: pairs on a curve, every order") {
  const std::vector<double> c = {0.5, 1, 0, -0.3, 0.2};
  const auto a = generators::circulant(210, c);
  const auto exact = generators::circulant_spectrum(210, c);
  const solvers::Operator<double> op = solvers::CsrOperator<double>(a.view());
  for (const auto part : {Part::LR, Part::SR, Part::LI}) {
    CAPTURE(static_cast<int>(part));
    const auto r = solvers::solve_general<double>(Context{}, op, options_for(5, part, 1e-6));
    check(r, exact, part, 1e-5);
    for (std::size_t i = 0; i < r.values.size(); ++i)
      if (r.values[i].imag() > 1e-12) CHECK(std::abs(r.values[i + 1] - std::conj(r.values[i])) < 1e-12);
  }
}

TEST_CASE("copies of pairs, also beyond the block") {
  std::vector<Complex> pairs;
  for (int i = 0; i < 200; ++i) pairs.emplace_back(0.01 * i, 0.5 + 0.001 * i);
  for (int i = 0; i < 6; ++i) pairs.emplace_back(4, 1);  // six copies of 4 +- i
  const auto a = rotations(pairs);
  std::vector<Complex> exact;
  for (const Complex z : pairs) exact.push_back(z), exact.push_back(std::conj(z));
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    auto o = options_for(14, Part::LR);
    o.common.seed = seed;
    const auto r = solvers::solve_general<double>(Context{}, solvers::CsrOperator<double>(a.view()), o);
    check(r, exact, Part::LR, 1e-6);
    CHECK(std::count_if(r.values.begin(), r.values.end(), [](Complex z) { return z.real() > 3.9; }) == 12);
  }
}

TEST_CASE("complex matrices, matrices far from normal, and small ones") {
  const auto flux = generators::flux_ring(500, 0.3);
  auto a = flux;
  for (auto& x : a.values) x *= Complex(0, 1);  // eigenvalues on the imaginary axis
  std::vector<Complex> exact;
  for (const double v : generators::flux_ring_spectrum(500, 0.3).all()) exact.emplace_back(0, v);
  check(solvers::solve_general<Complex>(Context{}, solvers::CsrOperator<Complex>(a.view()),
                                        options_for(4, Part::LM)),
        exact, Part::LM, 1e-6);

  const auto t = generators::toeplitz(18, 0.2, 1, 3);  // condition of the eigenvalues about 1e5
  const auto r = solvers::solve_general<double>(Context{}, solvers::CsrOperator<double>(t.view()),
                                                options_for(3, Part::LR, 1e-12));
  check(r, generators::toeplitz_spectrum(18, 0.2, 1, 3), Part::LR, 1e-6);
  CHECK(r.verification == solvers::Verification::all_computed);
  for (index_t n = 1; n <= 6; ++n) {
    const auto c = generators::circulant(n, {1, 2, 4});
    const auto s = solvers::solve_general<double>(Context{}, solvers::CsrOperator<double>(c.view()),
                                                  options_for(9, Part::LM));
    check(s, generators::circulant_spectrum(n, {1, 2, 4}), Part::LM, 1e-10);
    CHECK(static_cast<index_t>(s.values.size()) == n);
  }
}

TEST_CASE("eigenvalues that rounding alone decides are not vouched for") {
  // All zero, but those of a matrix within rounding of it lie on a circle of radius 0.7.
  CsrMatrix<double> shift;
  shift.rows = shift.cols = 100;
  for (index_t i = 0; i < 100; ++i) {
    if (i < 99) shift.indices.push_back(static_cast<std::int32_t>(i + 1)), shift.values.push_back(1);
    shift.pointers.push_back(static_cast<index_t>(shift.indices.size()));
  }
  solvers::GeneralOptions o;
  o.common.nev = 3;
  const auto r = solvers::solve_general<double>(Context{}, solvers::CsrOperator<double>(shift.view()), o);
  INFO(r.reason);
  CHECK_FALSE(r.verified);
  CHECK(r.reason.find("rounding decides") != std::string::npos);
}
