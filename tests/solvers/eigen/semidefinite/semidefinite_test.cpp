#include "tallskinny/solvers/eigen/semidefinite/semidefinite.hpp"

#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

using solvers::Interval;

namespace {

template <class T>
struct Pencil {
  CsrMatrix<T> a, m;
  std::vector<double> finite = {};  ///< rising
};

template <class T>
CsrMatrix<T> sparse_of(index_t n, const std::function<T(index_t, index_t)>& entry, index_t reach) {
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
    for (index_t j = std::max<index_t>(0, i - reach); j < std::min(n, i + reach + 1); ++j)
      if (const T x = entry(i, j); x != T{}) add(j, x);
  });
}

/// A line of 2m + 1 nodes of which every second has a mass: condensed, half the matrix of a line of m.
Pencil<double> every_second(index_t m) {
  Pencil<double> p{generators::laplacian({2 * m + 1}),
                   sparse_of<double>(
                       2 * m + 1, [](index_t i, index_t j) { return i == j && i % 2 == 1 ? 1.0 : 0.0; }, 0)};
  for (const double v : generators::laplacian_spectrum({m}).all()) p.finite.push_back(0.5 * v);
  return p;
}

/// A line of m nodes, of which a multiplier holds the first: that of m - 1, and two infinite eigenvalues.
Pencil<double> with_multiplier(index_t m) {
  const auto entry = [m](index_t i, index_t j) {
    if (i == m || j == m) return i + j == m ? 1.0 : 0.0;
    return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  };
  Pencil<double> p{sparse_of<double>(m + 1, entry, m),
                   sparse_of<double>(
                       m + 1, [m](index_t i, index_t j) { return i == j && i < m ? 1.0 : 0.0; }, 0)};
  p.finite = generators::laplacian_spectrum({m - 1}).all();
  return p;
}

/// Two lines, of which M weighs the sum alone, turned by phases where T is complex.
template <class T>
Pencil<T> coupled_lines(index_t m) {
  const auto phase = [](index_t i) -> T {
    if constexpr (is_complex<T>) return std::polar(1.0, 0.7 * static_cast<double>(i));
    return i % 3 == 0 ? T(-1) : T(1);
  };
  const auto of_line = [](index_t i, index_t j) { return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0; };
  Pencil<T> p{
      sparse_of<T>(
          2 * m,
          [&](index_t i, index_t j) -> T {
            return i % 2 == j % 2 ? of_line(i / 2, j / 2) * phase(i) * conjugate(phase(j)) : T{};
          },
          2),
      sparse_of<T>(
          2 * m, [&](index_t i, index_t j) -> T { return i / 2 == j / 2 ? 0.5 * phase(i) * conjugate(phase(j)) : T{}; },
          1)};
  p.finite = generators::laplacian_spectrum({m}).all();
  return p;
}

solvers::EigenOptions asked(index_t nev, Which which) {
  return solvers::EigenOptions{.nev = nev, .which = which, .tol = 1e-10};
}

template <class T>
solvers::SemidefiniteResult<T> solve(const Pencil<T>& p, const solvers::EigenOptions& options,
                                     const solvers::SemidefiniteRequest<T>& request) {
  const solvers::AnyView<T> a(p.a.view());
  const auto assembled = solvers::assemble<T>(Context{}, a, p.m.view(), request.target, {});
  REQUIRE(assembled.semidefinite);
  return solvers::solve_semidefinite<T>(Context{}, *assembled.semidefinite, options, request);
}

/// The values of `exact`, each as far off as its bound says at most; vectors and residuals from the matrices.
template <class T>
void check(const Pencil<T>& p, const solvers::SemidefiniteResult<T>& r, const std::vector<double>& exact) {
  INFO(r.reason);
  CHECK(r.converged);
  CHECK(r.verified);
  check_values(r.values, exact, allowed::tight_run);
  for (std::size_t i = 0; i < exact.size(); ++i)
    CHECK(*std::min_element(exact.begin(), exact.end(),
                            [&](double a, double b) { return std::abs(a - r.values[i]) < std::abs(b - r.values[i]); }) -
              r.values[i] <=
          r.error_bounds[i]);
  CHECK(r.orthogonality_loss < allowed::tight_run);
  REQUIRE(r.backward_errors.size() == exact.size());
  for (const double e : r.backward_errors) CHECK(e < allowed::long_sum);
  REQUIRE(r.vectors.rows() == p.a.rows);
  REQUIRE(r.vectors.cols() == static_cast<index_t>(exact.size()));
}

template <class T>
std::vector<double> nearest(const Pencil<T>& p, double target, index_t k) {
  return generators::Spectrum(p.finite).nearest(target, k);
}

template <class T>
std::vector<double> within(const Pencil<T>& p, double low, double high) {
  std::vector<double> some;
  for (const double v : p.finite)
    if (v >= low && v <= high) some.push_back(v);
  return some;
}

}  // namespace

TEST_CASE("massless rows, multipliers and masses of lower rank: beside a target") {
  for (const index_t m : {40, 700}) {  // whole, and by a search
    CAPTURE(m);
    const auto sparse = every_second(m), held = with_multiplier(m);
    const auto lines = coupled_lines<double>(m);
    const auto turned = coupled_lines<std::complex<double>>(m);
    for (const double target : {0.0, 0.7013}) {
      CAPTURE(target);
      check(sparse, solve(sparse, asked(5, Which::LM), {target}), nearest(sparse, target, 5));
      check(held, solve(held, asked(5, Which::SM), {target}), nearest(held, target, 5));
      check(lines, solve(lines, asked(5, Which::LM), {target}), nearest(lines, target, 5));
      check(turned, solve(turned, asked(5, Which::LM), {target}), nearest(turned, target, 5));
    }
    const auto next = std::upper_bound(held.finite.begin(), held.finite.end(), 1.5);
    check(held, solve(held, asked(3, Which::LA), {1.5}), {next, next + 3});
  }
}

TEST_CASE("no more eigenvalues than are finite, none on an empty side") {
  const auto p = every_second(12);
  check(p, solve(p, asked(20, Which::LM), {0.4}), p.finite);
  const auto held = with_multiplier(12);
  const auto all = solve(held, asked(20, Which::LM), {0.4});
  check(held, all, held.finite);
  CHECK(mentions(all.reason, "no more than 11 finite ones"));
  const auto none = solve(p, asked(2, Which::SA), {-1.0});
  CHECK(none.verified);
  CHECK(none.values.empty());
}

TEST_CASE("all of an interval of a semidefinite pencil") {
  const auto p = every_second(400), held = with_multiplier(300);
  const auto in = [](Interval interval) { return solvers::SemidefiniteRequest<double>{{}, interval}; };
  for (const Interval i : {Interval{0.1, 0.25}, Interval{-5, -1}, Interval{-0.3, 0.02}, Interval{0.3, 1.7}}) {
    CAPTURE(i.low, i.high);
    const auto r = solve(p, asked(1, Which::SA), in(i));
    check(p, r, within(p, i.low, i.high));
    CHECK(std::is_sorted(r.values.begin(), r.values.end()));
    check(held, solve(held, asked(1, Which::SA), in(i)), within(held, i.low, i.high));
  }
  check(p, solve(p, asked(1, Which::SA), in({-solvers::inf, 0.03})), within(p, -solvers::inf, 0.03));
  check(held, solve(held, asked(1, Which::SA), in({3.9, solvers::inf})), within(held, 3.9, solvers::inf));
}

TEST_CASE("a mass matrix that is singular needs a target, one that is indefinite is refused") {
  auto p = every_second(20);
  const solvers::AnyView<double> a(p.a.view());
  const auto assembled = solvers::assemble<double>(Context{}, a, p.m.view(), {}, {});
  REQUIRE(assembled.semidefinite);
  CHECK(assembled.semidefinite->infinite() == 21);
  CHECK(mentions(assembled.note, "at least 21 eigenvalues are infinite"));
  const auto message = message_of(
      [&] { (void)solvers::solve_semidefinite<double>(Context{}, *assembled.semidefinite, asked(2, Which::LA), {}); });
  CHECK(mentions(message, "of rank 20 in 41 rows"));
  CHECK(mentions(message, "give a target"));
  p.m.values.front() = -1;
  CHECK(mentions(message_of([&] { (void)solvers::assemble<double>(Context{}, a, p.m.view(), {}, {}); }),
                 "indefinite: where A is positive definite, exchange"));
}
