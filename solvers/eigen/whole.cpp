#include "tallskinny/solvers/eigen/whole.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tallskinny/solvers/eigen/krylov_schur_detail.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::solvers {

namespace {

/// Diagonal elements of a Schur form that are never separated.
struct Unit {
  double key;  ///< rises from the first wanted to the last
  index_t first, size;
};

template <class T>
std::vector<Unit> sorted_units(const Schur& schur, const GeneralProblem<T>& problem, Part part) {
  std::vector<Unit> units;
  index_t first = 0;
  for (const index_t size : schur.units) {
    const Complex z = schur.value(first);
    units.push_back({problem.target ? std::abs(z - Complex(*problem.target)) : key_of(part, z), first, size});
    first += size;
  }
  std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.key < b.key; });
  return units;
}

/// An order of rows and columns in which the matrix is upper triangular, or nothing: those whose rows have no
/// other element among the rest come last, one after the other.
template <class T>
std::vector<index_t> triangular_order(const Matrix<T>& a) {
  const index_t n = a.rows();
  std::vector<index_t> others(at(n)), order;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) others[at(i)] += i != j && a(i, j) != T{} ? 1 : 0;
  for (index_t i = 0; i < n; ++i)
    if (others[at(i)] == 0) order.push_back(i);
  for (std::size_t done = 0; done < order.size(); ++done)
    for (index_t i = 0; i < n; ++i)
      if (i != order[done] && a(i, order[done]) != T{} && --others[at(i)] == 0) order.push_back(i);
  std::reverse(order.begin(), order.end());
  return static_cast<index_t>(order.size()) == n ? order : std::vector<index_t>{};
}

/// Powers of two d_i such that rows and columns of D^-1 A D are about as long as each other, which makes its
/// eigenvalues as well conditioned as a diagonal D can (Osborne 1960; Parlett and Reinsch 1969). A becomes
/// that.
template <class T>
std::vector<double> balance(Matrix<T>& a) {
  constexpr double most = 0x1p400, enough = 0.95;
  const index_t n = a.rows();
  std::vector<double> d(at(n), 1.0);
  bool changed = true;
  for (int sweep = 0; sweep < 50 && changed; ++sweep) {
    changed = false;
    for (index_t i = 0; i < n; ++i) {
      double row = 0, column = 0;
      for (index_t j = 0; j < n; ++j)
        if (j != i) row += std::norm(a(i, j)), column += std::norm(a(j, i));
      if (!(row > 0 && column > 0)) continue;
      row = std::sqrt(row), column = std::sqrt(column);
      const double f = std::exp2(std::round(0.5 * std::log2(row / column)));
      const bool in_range = d[at(i)] * f < most && d[at(i)] * f > 1 / most;
      if (!in_range || !(column * f + row / f < enough * (column + row))) continue;
      for (index_t j = 0; j < n; ++j) a(i, j) /= f;
      for (index_t j = 0; j < n; ++j) a(j, i) *= f;
      d[at(i)] *= f, changed = true;
    }
  }
  return d;
}

/// max ||column||: no more than ||A||_2.
template <class T>
double longest_column(const Matrix<T>& a) {
  double norm = 0;
  for (index_t j = 0; j < a.cols(); ++j) {
    double squares = 0;
    for (index_t i = 0; i < a.rows(); ++i) squares += std::norm(a(i, j));
    norm = std::max(norm, std::sqrt(squares));
  }
  return norm;
}

/// The matrix P^T D^-1 A D P that is decomposed for A.
template <class T>
struct Similar {
  Matrix<T> matrix;
  std::vector<index_t> order;  ///< of the rows of A
  std::vector<double> d;       ///< of the rows of A
  bool exact = false;          ///< triangular: its eigenvalues are elements of A
};

template <class T>
Similar<T> similar_to(const Matrix<T>& a, bool balanced) {
  const index_t n = a.rows();
  Similar<T> s{Matrix<T>(n, n), triangular_order(a), std::vector<double>(at(n), 1.0), false};
  s.exact = !s.order.empty();
  if (!s.exact) {
    s.order.resize(at(n));
    std::iota(s.order.begin(), s.order.end(), index_t{0});
  }
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) s.matrix(i, j) = a(s.order[at(i)], s.order[at(j)]);
  if (balanced && !s.exact) s.d = balance(s.matrix);
  return s;
}

/// Eigenvectors of P^T D^-1 A D P become those of A: x = D P x', y = D^-1 P y', of length one again; their
/// conditions are those for A then.
template <class T>
void carry_back(const Similar<T>& s, SchurVectors& pairs) {
  const index_t n = pairs.vectors.rows();
  const Matrix<Complex> x = std::move(pairs.vectors), y = std::move(pairs.left);
  pairs.vectors = Matrix<Complex>(n, x.cols()), pairs.left = Matrix<Complex>(n, x.cols());
  for (index_t c = 0; c < x.cols(); ++c) {
    double of_x = 0, of_y = 0;
    for (index_t i = 0; i < n; ++i)
      of_x = std::hypot(of_x, std::abs(s.d[at(i)] * x(i, c))),
      of_y = std::hypot(of_y, std::abs(y(i, c) / s.d[at(i)]));
    for (index_t i = 0; i < n; ++i) {
      pairs.vectors(s.order[at(i)], c) = s.d[at(i)] * x(i, c) / of_x;
      pairs.left(s.order[at(i)], c) = y(i, c) / s.d[at(i)] / of_y;
    }
    pairs.conditions[at(c)] *= of_x * of_y;
  }
}

/// From the Schur form of a similar matrix.
template <class T>
void solve_similar(const Context& ctx, const GeneralProblem<T>& problem, const GeneralOptions& options,
                   const Matrix<T>& dense, const Similar<T>& similar, GeneralResult& out) {
  const index_t n = problem.a.rows(), nev = std::min(options.common.nev, n);
  const Schur schur = schur_of<T>(similar.matrix.cview());

  std::vector<index_t> chosen;
  out.next_value = Complex(nan, 0);
  for (const Unit& unit : sorted_units(schur, problem, options.part)) {
    if (static_cast<index_t>(chosen.size()) >= nev) {
      out.next_value = schur.value(unit.first);
      break;
    }
    for (index_t i = 0; i < unit.size; ++i) chosen.push_back(unit.first + i);
  }
  SchurVectors pairs = eigenvectors_of(schur, chosen);
  double worst = 1;
  for (const double c : pairs.conditions) worst = std::isnan(c) ? inf : std::max(worst, c);
  carry_back(similar, pairs);
  out.values.clear(), out.converged_pairs.clear(), out.converged_count = 0;
  for (const index_t i : chosen) out.values.push_back(schur.value(i));
  out.vectors = std::move(pairs.vectors), out.conditions = std::move(pairs.conditions);
  out.residual_norms = general_residuals<T>(ctx, problem.a, out.vectors.cview(), out.values);
  out.operator_applications += is_complex<T> ? out.vectors.cols() : 2 * out.vectors.cols();

  Acceptance accept;
  accept.tol = options.common.tol, accept.convergence = options.common.convergence, accept.rows = n;
  accept.norm = longest_column(dense);
  for (index_t j = 0; j < n; ++j) accept.norm = std::max(accept.norm, std::abs(schur.value(j)));
  for (std::size_t j = 0; j < out.values.size(); ++j) {
    out.converged_pairs.push_back(out.residual_norms[j] <= accept.bound(std::abs(out.values[j])));
    out.converged_count += out.converged_pairs.back() ? 1 : 0;
  }
  out.norm = accept.norm;
  out.verification = Verification::all_computed, out.stop = StopReason::converged;
  GeneralVerdict verdict;
  verdict.whole = true;
  verdict.amplification = similar.exact ? 1 : worst * longest_column(similar.matrix) / accept.norm;
  conclude(out, verdict, nev);
}

}  // namespace

template <class T>
void solve_whole(const Context& ctx, const GeneralProblem<T>& problem, const GeneralOptions& options,
                 GeneralResult& out) {
  const index_t n = problem.a.rows(), nev = std::min(options.common.nev, n);
  if (options.common.progress) {
    Progress p;
    p.phase = "dense", p.wanted = nev;
    options.common.progress(p);
  }
  const auto dense = as_dense(ctx, problem.a);
  out.operator_applications += n;
  if (!ortho::all_finite(dense.cview()))
    throw Error(Errc::bad_input, "the operator gave NaN or Inf for a finite block");
  // Balanced, values are known best; vectors far out of balance may miss the tolerance, which they do not
  // without.
  solve_similar(ctx, problem, options, dense, similar_to(dense, true), out);
  if (out.converged_count < static_cast<index_t>(out.values.size()))
    solve_similar(ctx, problem, options, dense, similar_to(dense, false), out);
}

#define TS_INSTANTIATE(T)                                                                       \
  template void solve_whole<T>(const Context&, const GeneralProblem<T>&, const GeneralOptions&, \
                               GeneralResult&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
