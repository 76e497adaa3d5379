// Runs of the general solver for tests.
#pragma once

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/small/schur.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

namespace ts::test {

using solvers::Complex;
using solvers::GeneralWhich;
inline double key(GeneralWhich part, Complex z) {
  if (part == GeneralWhich::LM) return -std::abs(z);
  if (part == GeneralWhich::LR) return -z.real();
  if (part == GeneralWhich::SR) return z.real();
  return part == GeneralWhich::LI ? -std::abs(z.imag()) : std::abs(z.imag());
}

inline solvers::GeneralOptions options_for(index_t nev, GeneralWhich part, double tol = 1e-8) {
  solvers::GeneralOptions o;
  o.part = part, o.common.nev = nev, o.common.tol = tol;
  return o;
}

/// Options with a basis that does not hold the whole space of a few hundred rows.
inline solvers::GeneralOptions searching(index_t nev, GeneralWhich part, double tol = 1e-8) {
  auto o = options_for(nev, part, tol);
  o.common.max_basis = std::max(2 * nev + 32, nev + 80);
  return o;
}

/// Nothing but a search: with the number of block steps given no dense solver takes over.
inline solvers::GeneralOptions only_searching(index_t nev, GeneralWhich part, double tol = 1e-8) {
  auto o = searching(nev, part, tol);
  o.common.max_iterations = 20000;
  return o;
}

/// Takes the value of `exact` that is nearest to each that was found out of it, within the tolerance.
inline void check_each_has_its_own(const std::vector<Complex>& found, std::vector<Complex>& exact, double tolerance) {
  for (const Complex v : found) {
    const auto nearest = std::min_element(exact.begin(), exact.end(),
                                          [v](Complex a, Complex b) { return std::abs(a - v) < std::abs(b - v); });
    REQUIRE(nearest != exact.end());
    CHECK(std::abs(*nearest - v) <= tolerance);
    exact.erase(nearest);
  }
}

/// Both lists hold the same values, in any order.
inline void check_same_values(const std::vector<Complex>& found, std::vector<Complex> exact, double tolerance) {
  REQUIRE(found.size() == exact.size());
  check_each_has_its_own(found, exact, tolerance);
}

/// Every value has its own partner in `exact`, and nothing in `exact` that is not matched comes before the
/// last.
inline void check(const solvers::GeneralResult& r, std::vector<Complex> exact, GeneralWhich part, double tolerance) {
  INFO(r.reason);
  CHECK(r.converged);
  CHECK(r.verified);
  check_each_has_its_own(r.values, exact, tolerance);
  double last = -1e300;
  for (const Complex v : r.values) last = std::max(last, key(part, v));
  for (const Complex v : exact) CHECK(key(part, v) >= last - tolerance);
}

/// A block diagonal matrix with eigenvalues a_i +- i b_i, mixed by an orthogonal similarity of neighbours.
inline CsrMatrix<double> rotations(const std::vector<Complex>& pairs) {
  const auto n = 2 * static_cast<index_t>(pairs.size());
  return csr_by_rows<double>(n, n, [&](index_t i, auto add) {
    const Complex z = pairs[static_cast<std::size_t>(i / 2)];
    add(i / 2 * 2, i % 2 == 0 ? z.real() : -0.5 * z.imag());
    add(i / 2 * 2 + 1, i % 2 == 0 ? 2 * z.imag() : z.real());
  });
}
inline std::vector<Complex> with_conjugates_of(const std::vector<Complex>& pairs) {
  std::vector<Complex> all;
  for (const Complex z : pairs) all.push_back(z), all.push_back(std::conj(z));
  return all;
}

/// By products with the matrix alone, or with its adjoint, too.
template <class T>
solvers::GeneralResult solve(const CsrMatrix<T>& a, const solvers::GeneralOptions& options) {
  return solvers::solve_general<T>(Context{}, {solvers::CsrOperator<T>(a.view())}, options);
}
inline solvers::GeneralResult solve_with(const CsrMatrix<double>& a, const CsrMatrix<double>& adjoint,
                                         const solvers::GeneralOptions& options) {
  solvers::GeneralProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  problem.adjoint = [&adjoint] {
    return solvers::GeneralProblem<double>{solvers::CsrOperator<double>(adjoint.view())};
  };
  return solvers::solve_general<double>(Context{}, problem, options);
}

/// The values nearest to the target, of a real matrix or its conjugate, in units: distances and how many.
inline std::vector<Complex> nearest_units(std::vector<Complex> exact, Complex target, index_t nev) {
  const auto distance = [target](Complex z) { return std::min(std::abs(z - target), std::abs(z - std::conj(target))); };
  std::stable_sort(exact.begin(), exact.end(), [&](Complex a, Complex b) {
    return std::make_pair(distance(a), -a.imag()) < std::make_pair(distance(b), -b.imag());
  });
  auto count = static_cast<std::size_t>(nev);
  if (count < exact.size() && exact[count - 1].imag() > allowed::fine_run) ++count;
  exact.resize(std::min(count, exact.size()));
  return exact;
}

template <class T>
solvers::GeneralProblem<T> near(const CsrMatrix<T>& a, T target) {
  const solvers::GeneralInverse<T> inverse(a.view(), target);
  return {solvers::CsrOperator<T>(a.view()), target, solvers::Operator<T>(inverse), inverse.sigma()};
}

}  // namespace ts::test
