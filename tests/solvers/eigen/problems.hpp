// Problems with known spectra, their runs, and the judge of an answer.
#pragma once

#include <variant>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

using solvers::EigenOptions;
using solvers::EigenProblem;
using solvers::EigenResult;
using solvers::Method;
using solvers::Which;

template <class T>
EigenProblem<T> problem_of(const CsrMatrix<T>& a) {
  return {solvers::CsrOperator<T>(a.view())};
}

/// With factorisations, as an assembled problem has them.
template <class T>
EigenProblem<T> factorised(const CsrMatrix<T>& a) {
  auto problem = problem_of(a);
  problem.count_below = solvers::InertiaCounter<T>(a.view(), 0);
  problem.invert = [view = a.view()](double sigma) -> std::optional<solvers::ShiftedInverse<T>> {
    const solvers::ShiftInvert<T> inverse(view, sigma);
    return solvers::ShiftedInverse<T>{inverse, inverse.sigma()};
  };
  return problem;
}

/// Near a target: by products with the inverse and counts of eigenvalues.
template <class T>
EigenProblem<T> beside(const CsrMatrix<T>& a, double target) {
  auto problem = problem_of(a);
  const solvers::ShiftInvert<T> inverse(a.view(), target);
  problem.target = target, problem.inverse = inverse, problem.shift = inverse.sigma();
  problem.count_below = solvers::InertiaCounter<T>(a.view(), 0);
  return problem;
}

inline EigenOptions options_for(index_t nev, Which which, Method method = Method::automatic) {
  return EigenOptions{.nev = nev, .which = which, .method = method};
}
inline EigenOptions seeded_options(index_t nev, Which which, Method method) {
  return EigenOptions{.nev = nev, .which = which, .method = method, .seed = 0xfedcba9876543210u};
}

template <class T>
EigenResult<T> solve(const EigenProblem<T>& problem, const EigenOptions& options) {
  return solvers::solve_eigen<T>(Context{}, problem, options);
}
template <class T>
EigenResult<T> solve(const CsrMatrix<T>& a, const EigenOptions& options) {
  return solve(problem_of(a), options);
}

/// The values that are asked for, in rising order.
inline std::vector<double> wanted(const generators::Spectrum& spectrum, Which which, index_t k) {
  k = std::min(k, spectrum.count());
  if (which == Which::LA) return spectrum.largest(k);
  if (which == Which::LM) return spectrum.largest_magnitude(k);
  if (which == Which::SM) return spectrum.nearest(0, k);
  auto values = spectrum.smallest(which == Which::BE ? k / 2 : k);
  if (which == Which::BE)
    for (const double v : spectrum.largest(k - k / 2)) values.push_back(v);
  return values;
}

/// A number in [-0.5, 0.5) that looks random.
inline double noise(index_t place) {
  const double wave = 43758.5453 * std::sin(12.9898 * static_cast<double>(place + 1));
  return wave - std::floor(wave) - 0.5;
}

template <class T>
CsrMatrix<narrow_t<T>> narrow_of(const CsrMatrix<T>& a) {
  CsrMatrix<narrow_t<T>> narrow{a.rows, a.cols, a.pointers, a.indices, {}};
  for (const T& x : a.values) narrow.values.push_back(static_cast<narrow_t<T>>(x));
  return narrow;
}

/// Both lists hold the same values, in any order.
inline void check_values(std::vector<double> found, std::vector<double> exact, double tolerance) {
  std::sort(found.begin(), found.end());
  std::sort(exact.begin(), exact.end());
  REQUIRE(found.size() == exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(std::abs(found[i] - exact[i]) <= tolerance);
}

/// A complete set with these values.
template <class T>
void check(const EigenResult<T>& r, const std::vector<double>& exact, double tolerance) {
  INFO(r.reason);
  CHECK(r.converged);
  CHECK(r.verified);
  CHECK(r.orthogonality_loss < allowed::many_steps);
  check_values(r.values, exact, tolerance);
}

/// The state of a run as it is stored: a copy, for a run lends its own for a call only.
template <class T>
struct Stored {
  solvers::SavedState<T> state;
  Matrix<T> basis;

  Stored() = default;
  explicit Stored(const solvers::SavedState<T>& s) : basis(Matrix<T>::copy_of(s.basis)) {
    state.numbers = s.numbers, state.tall = s.tall;
    for (const auto& m : s.matrices) state.matrices.push_back(Matrix<T>::copy_of(m.cview()));
    state.basis = basis.cview();
  }
};

/// A tridiagonal matrix whose rows differ by many orders, and exact counts of its eigenvalues.
struct Graded {
  CsrMatrix<double> matrix;
  std::vector<double> diagonal, beside;

  /// Eigenvalues below x, by a Sturm sequence: exact but for the last digit of each element.
  [[nodiscard]] index_t below(double x) const {
    double pivot = 1;
    index_t count = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = diagonal[i] - x - (i > 0 ? beside[i - 1] * beside[i - 1] / pivot : 0);
      count += pivot < 0 ? 1 : 0;
    }
    return count;
  }
};

/// D T D with T = tridiag(-1, 2.3, -1) and D from 10^-orders to 10^orders: n eigenvalues from 10^(-2 orders) on.
inline Graded graded_tridiagonal(index_t n, double orders) {
  const auto d = [=](index_t i) {
    return std::pow(10.0, orders * (2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1));
  };
  Graded g;
  g.matrix = csr_by_rows<double>(n, n, [&](index_t i, auto add) {
    for (index_t j = std::max<index_t>(i - 1, 0); j <= i + 1 && j < n; ++j) {
      const double value = (i == j ? 2.3 : -1.0) * d(i) * d(j);
      add(j, value);
      if (j >= i) (j == i ? g.diagonal : g.beside).push_back(value);
    }
  });
  return g;
}

struct DegenerateProblem {
  std::string name;
  std::variant<CsrMatrix<double>, CsrMatrix<std::complex<double>>> matrix;
  generators::Spectrum spectrum;
  Which which;
  index_t nev;
  std::optional<double> target = {};

  [[nodiscard]] std::vector<double> exact() const {
    return target ? spectrum.nearest(*target, nev) : wanted(spectrum, which, nev);
  }
};

inline std::vector<DegenerateProblem> degenerate_problems() {
  using namespace ts::generators;
  return {{"ring(1000)", laplacian({1000}, Boundary::ring), laplacian_spectrum({1000}, Boundary::ring), Which::LA, 10},
          {"lap3d 20^3", laplacian({20, 20, 20}), laplacian_spectrum({20, 20, 20}), Which::SA, 20},
          {"8 x lap1d(100)", laplacian_copies(8, 100), laplacian_copies_spectrum(8, 100), Which::SA, 16},
          {"hypercube(11)", hypercube(11), hypercube_spectrum(11), Which::SA, 12},
          {"graphene 24x24", graphene(24, 24), graphene_spectrum(24, 24), Which::LA, 13},
          {"flux ring(1000, 0.3)", flux_ring(1000, 0.3), flux_ring_spectrum(1000, 0.3), Which::SA, 10},
          {"identity(500)", identity(500), Spectrum(std::vector<double>(500, 1.0)), Which::LA, 5},
          {"diag clusters", diagonal_clusters(2000, 250, 0), diagonal_clusters_spectrum(2000, 250, 0), Which::LA, 8},
          {"Clement(200)", clement(200), clement_spectrum(200), Which::SM, 6, 0}};
}

/// Harder ones: multiplicities beyond the block, other ends, tiny gaps.
inline std::vector<DegenerateProblem> harder_problems() {
  using namespace ts::generators;
  return {{"32 x lap1d(60), 40", laplacian_copies(32, 60), laplacian_copies_spectrum(32, 60), Which::SA, 40},
          {"32 x lap1d(60), 16", laplacian_copies(32, 60), laplacian_copies_spectrum(32, 60), Which::SA, 16},
          {"complete(1500), high", complete_graph(1500), complete_graph_spectrum(1500), Which::LA, 20},
          {"complete(1500), low", complete_graph(1500), complete_graph_spectrum(1500), Which::SA, 3},
          {"hypercube(12)", hypercube(12), hypercube_spectrum(12), Which::LA, 14},
          {"hypercube(11)", hypercube(11), hypercube_spectrum(11), Which::SA, 70},
          {"graphene 24x24", graphene(24, 24), graphene_spectrum(24, 24), Which::LM, 14},
          {"XX chain 11", xx_chain(11), xx_chain_spectrum(11), Which::SA, 12},
          {"identity(3000)", identity(3000), Spectrum(std::vector<double>(3000, 1.0)), Which::SA, 30},
          {"ring(1001)", laplacian({1001}, Boundary::ring), laplacian_spectrum({1001}, Boundary::ring), Which::BE, 9},
          {"sakurai(1000)", sakurai(1000), sakurai_spectrum(1000), Which::SM, 8, 0},
          {"lap2d 40x40 near 3", laplacian({40, 40}), laplacian_spectrum({40, 40}), Which::SM, 9, 3}};
}

/// Solves a problem, near its target by products with the inverse alone.
inline void judge(const DegenerateProblem& p, EigenOptions options) {
  options.nev = p.nev, options.which = p.which;
  const auto exact = p.exact();
  double largest = 1;
  for (const double v : exact) largest = std::max(largest, std::abs(v));
  std::visit(
      [&](const auto& a) {
        auto problem = p.target ? beside(a, *p.target) : problem_of(a);
        problem.count_below = nullptr;
        const auto r = solve(problem, options);
        check(r, exact, 10 * options.tol * largest);
        CHECK(r.orthogonality_loss < allowed::long_sum);
      },
      p.matrix);
}

}  // namespace ts::test
