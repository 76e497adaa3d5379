#include <limits>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/setup/preconditioners.hpp"
#include "tallskinny/tests/bench/baseline/solved.hpp"

namespace ts::baseline {

namespace {

using solvers::EigenOptions;
using solvers::EigenProblem;
using solvers::Method;
using solvers::Precision;
using solvers::Which;

template <class T>
EigenProblem<T> plain(const CsrMatrix<T>& a) {
  return {solvers::CsrOperator<T>(a.view())};
}
/// With everything that a sparse matrix allows.
template <class T>
EigenProblem<T> factorisable(const CsrMatrix<T>& a) {
  EigenProblem<T> p = plain(a);
  p.count_below = solvers::InertiaCounter<T>(a.view(), 0);
  p.invert = [view = a.view()](double sigma) -> std::optional<solvers::ShiftedInverse<T>> {
    const solvers::ShiftInvert<T> factor(view, sigma);
    return solvers::ShiftedInverse<T>{factor, factor.sigma()};
  };
  return p;
}

EigenOptions options_for(index_t nev, Which which, Method method = Method::automatic) {
  EigenOptions o;
  o.nev = nev, o.which = which, o.method = method;
  return o;
}

template <class T>
void print(const std::string& name, const EigenProblem<T>& problem, const EigenOptions& options) {
  item("eigen " + name, [&](Hash& hash) { add(hash, solvers::solve_eigen<T>(plain_context(), problem, options)); });
}

constexpr std::pair<const char*, Which> ends[] = {
    {"LA", Which::LA}, {"SA", Which::SA}, {"LM", Which::LM}, {"BE", Which::BE}};
constexpr std::pair<const char*, Method> methods[] = {{"automatic", Method::automatic}, {"lanczos", Method::lanczos},
                                                      {"chebyshev", Method::chebyshev}, {"dense", Method::dense},
                                                      {"lobpcg", Method::lobpcg},       {"davidson", Method::davidson}};

template <class T>
void print_methods(const std::string& matrix, const CsrMatrix<T>& a) {
  for (const auto& [which_name, which] : ends)
    for (const auto& [method_name, method] : methods) {
      const bool one_end = which == Which::LA || which == Which::SA;
      if (!one_end && (solvers::is_preconditioned(method) || method == Method::chebyshev)) continue;
      print(matrix + " " + method_name + " " + which_name, plain(a), options_for(5, which, method));
    }
}

void print_variants(const CsrMatrix<double>& a) {
  EigenOptions restarting = options_for(6, Which::SA, Method::lanczos);
  restarting.block_size = 3, restarting.max_basis = 24, restarting.seed = 7;
  print("thick restart", plain(a), restarting);
  restarting.verify = false, restarting.max_iterations = 9;
  print("budget", plain(a), restarting);
  Context slow = plain_context();
  slow.implementation = Implementation::reference;
  item("eigen reference", [&](Hash& hash) {
    add(hash, solvers::solve_eigen<double>(slow, plain(a), options_for(4, Which::LA, Method::lanczos)));
  });
  CsrMatrix<float> narrow{a.rows, a.cols, a.pointers, a.indices, {}};
  narrow.values.assign(a.values.begin(), a.values.end());
  for (const auto& [name, precision] : {std::pair{"float32", Precision::float32}, {"mixed", Precision::mixed}})
    for (const Method method : {Method::lanczos, Method::chebyshev}) {
      EigenProblem<double> problem = plain(a);
      problem.narrow = solvers::CsrOperator<float>(narrow.view());
      EigenOptions o = options_for(4, Which::LA, method);
      o.precision = precision;
      if (precision == Precision::float32) o.tol = 1e-5;
      print(std::string(name) + (method == Method::lanczos ? " lanczos" : " chebyshev"), problem, o);
    }
  Matrix<double> start(a.rows, 3);
  fill_random<double>(plain_context(), Philox{3, 1}, start.view());
  item("eigen warm start", [&](Hash& hash) {
    add(hash, solvers::solve_eigen<double>(plain_context(), plain(a), options_for(3, Which::SA), start.cview()));
  });
}

template <class T>
void print_targets(const std::string& matrix, const CsrMatrix<T>& a, double sigma) {
  const solvers::ShiftInvert<T> factor(a.view(), sigma);
  for (const auto& [name, which] : {std::pair{"SM", Which::SM}, {"LA", Which::LA}, {"BE", Which::BE}}) {
    EigenProblem<T> problem = factorisable(a);
    problem.inverse = solvers::Operator<T>(factor);
    problem.shift = factor.sigma(), problem.target = sigma;
    print(matrix + " shift-invert " + name, problem, options_for(6, which));
  }
  print(matrix + " cheap factorisation SA", factorisable(a), options_for(6, Which::SA));
}

template <class T>
void print_intervals(const std::string& matrix, const CsrMatrix<T>& a,
                     std::initializer_list<solvers::Interval> intervals) {
  int number = 0;
  for (const solvers::Interval i : intervals) {
    ++number;
    item("interval counted " + matrix + " " + std::to_string(number),
         [&](Hash& hash) { add(hash, solvers::solve_interval<T>(plain_context(), factorisable(a), {}, i)); });
    item("interval searched " + matrix + " " + std::to_string(number),
         [&](Hash& hash) { add(hash, solvers::solve_interval<T>(plain_context(), plain(a), {}, i)); });
  }
}

void print_preconditioned(const CsrMatrix<double>& a) {
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows));
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[static_cast<std::size_t>(i)]; e < a.pointers[static_cast<std::size_t>(i) + 1]; ++e)
      if (a.indices[static_cast<std::size_t>(e)] == i)
        diagonal[static_cast<std::size_t>(i)] += a.values[static_cast<std::size_t>(e)];
  const auto facts = solvers::gershgorin(a.view());
  const auto end = solvers::positive_end(Context{}, diagonal, facts.low, facts.high, Which::SA);
  const solvers::Operator<double> all[] = {solvers::jacobi<double>(Context{}, diagonal),
                                           solvers::IncompleteCholesky<double>(a.view(), end),
                                           solvers::ChebyshevInverse<double>(plain_context(), plain(a).a, Which::SA)};
  constexpr const char* names[] = {"jacobi", "ichol", "chebyshev inverse"};
  for (std::size_t i = 0; i < 3; ++i)
    for (const auto& [name, method] : {std::pair{"lobpcg ", Method::lobpcg}, {"davidson ", Method::davidson}}) {
      EigenProblem<double> problem = plain(a);
      problem.preconditioner = all[i];
      print(std::string(name) + names[i], problem, options_for(4, Which::SA, method));
    }
}

}  // namespace

void print_eigen() {
  namespace g = generators;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto grid = g::laplacian({12, 11, 10});
  const auto flux = g::flux_ring(700, 0.3);
  print_methods("lap3d", grid);
  print_methods("copies", g::laplacian_copies(4, 60));
  print_methods("hofstadter", g::hofstadter(24, 24, 5));
  print_variants(grid);
  print_targets("lap3d", grid, 3.1);
  print_targets("flux ring", flux, 0.4);
  print_intervals<double>("lap3d", grid, {{1, 1.3}, {-infinity, 0.4}, {11.2, infinity}});
  print_intervals<std::complex<double>>("flux ring", flux, {{-0.05, 0.05}});
  print_preconditioned(grid);
  const Matrix<double> dense = g::minij(300);
  print("dense operator LA", EigenProblem<double>{solvers::DenseOperator<double>(dense.cview())},
        options_for(4, Which::LA, Method::lanczos));
}

}  // namespace ts::baseline
