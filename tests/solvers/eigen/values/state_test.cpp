// A run that is interrupted and resumed gives the bits of one that was not.
#include "tallskinny/solvers/eigen/values/state.hpp"

#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::Method;
using solvers::Which;

namespace {

template <class T>
struct Stored {
  solvers::SavedState<T> state;
  Matrix<T> basis;
};

/// Stops after each of `stops` block steps and goes on from what was stored.
template <class T>
solvers::EigenResult<T> solve_with_stops(const solvers::EigenProblem<T>& problem, const solvers::EigenOptions& options,
                                         std::vector<int> stops) {
  Stored<T> stored;
  bool resume = false;
  for (;;) {
    auto o = options;
    int steps = 0;
    const bool last = stops.empty();
    if (!last) o.stop = [&steps, limit = stops.front()] { return steps++ >= limit; };
    const Stored<T> before = std::move(stored);
    stored = {};
    solvers::Checkpointing<T> checkpointing;
    checkpointing.write = [&stored](const solvers::SavedState<T>& s) {
      stored.state.numbers = s.numbers;
      stored.state.matrices.clear();
      for (const auto& m : s.matrices) stored.state.matrices.push_back(Matrix<T>::copy_of(m.cview()));
      stored.basis = Matrix<T>::copy_of(s.basis);
      stored.state.basis = stored.basis.cview();
    };
    if (resume) checkpointing.resume = &before.state;
    auto r = solvers::solve_eigen<T>(Context{}, problem, o, HostView<const T>{}, checkpointing);
    if (r.stop != solvers::StopReason::interrupted) {
      CHECK(last);
      return r;
    }
    resume = true;
    stops.erase(stops.begin());
  }
}

template <class T>
void check_same(const solvers::EigenProblem<T>& problem, const solvers::EigenOptions& options,
                const std::vector<int>& stops) {
  const auto whole = solvers::solve_eigen<T>(Context{}, problem, options);
  const auto parts = solve_with_stops<T>(problem, options, stops);
  CHECK(whole.verified);
  CHECK(parts.values == whole.values);
  CHECK(parts.residual_norms == whole.residual_norms);
  CHECK(parts.iterations == whole.iterations);
  CHECK(parts.operator_applications == whole.operator_applications);
  CHECK(parts.history.size() == whole.history.size());
  CHECK(parts.verification == whole.verification);
  CHECK(std::equal(parts.vectors.data(), parts.vectors.data() + parts.vectors.rows() * parts.vectors.cols(),
                   whole.vectors.data()));
}

solvers::EigenOptions seeded_options(index_t nev, Which which, Method method) {
  solvers::EigenOptions o;
  o.nev = nev, o.which = which, o.method = method, o.seed = 0xfedcba9876543210u;
  return o;
}

}  // namespace

TEST_CASE("stopped and resumed, same bits: search, filter, fresh blocks, inverse") {
  const auto lap = generators::laplacian({14, 14, 14});
  const solvers::EigenProblem<double> plain{solvers::CsrOperator<double>(lap.view())};
  check_same(plain, seeded_options(10, Which::SA, Method::lanczos), {1, 7, 20, 30});
  check_same(plain, seeded_options(10, Which::SA, Method::chebyshev), {0, 13, 5, 9});

  const auto copies = generators::laplacian_copies(8, 100);  // as many copies as columns: a fresh block
  const solvers::EigenProblem<double> degenerate{solvers::CsrOperator<double>(copies.view())};
  const auto whole =
      solvers::solve_eigen<double>(Context{}, degenerate, seeded_options(16, Which::SA, Method::lanczos));
  REQUIRE(whole.verification_rounds > 0);
  int search_steps = 0;
  for (const auto& entry : whole.history)
    if (!entry.verifying) search_steps = static_cast<int>(entry.iteration);
  check_same(degenerate, seeded_options(16, Which::SA, Method::lanczos), {search_steps + 5, 3, 20});

  const auto ring = generators::flux_ring(600, 0.3);
  solvers::EigenProblem<std::complex<double>> inverse{solvers::CsrOperator<std::complex<double>>(ring.view())};
  inverse.count_below = solvers::InertiaCounter<std::complex<double>>(ring.view(), 1e9);
  inverse.invert = [&](double sigma) -> std::optional<solvers::ShiftedInverse<std::complex<double>>> {
    const solvers::ShiftInvert<std::complex<double>> factor(ring.view(), sigma);
    return solvers::ShiftedInverse<std::complex<double>>{factor, factor.sigma()};
  };
  check_same(inverse, seeded_options(6, Which::SA, Method::automatic), {3, 14, 2});
}

TEST_CASE("the state of another run is refused") {
  const auto lap = generators::laplacian({14, 14, 14});
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(lap.view())};
  auto o = seeded_options(5, Which::SA, Method::lanczos);
  o.max_iterations = 5;
  solvers::SavedState<double> state;
  Matrix<double> basis;
  solvers::Checkpointing<double> checkpointing;
  checkpointing.write = [&](const solvers::SavedState<double>& s) {
    state.numbers = s.numbers;
    state.matrices.clear();
    for (const auto& m : s.matrices) state.matrices.push_back(Matrix<double>::copy_of(m.cview()));
    basis = Matrix<double>::copy_of(s.basis), state.basis = basis.cview();
  };
  CHECK(solvers::solve_eigen<double>(Context{}, problem, o, {}, checkpointing).stop ==
        solvers::StopReason::max_iterations);
  REQUIRE_FALSE(state.numbers.empty());
  solvers::Checkpointing<double> resume;
  resume.resume = &state;
  o.max_iterations = 0;  // a larger budget is what one resumes for
  CHECK(solvers::solve_eigen<double>(Context{}, problem, o, {}, resume).verified);
  o.nev = 6;
  CHECK_THROWS_AS(solvers::solve_eigen<double>(Context{}, problem, o, {}, resume), Error);
  o.nev = 5;
  state.numbers.resize(state.numbers.size() - 4);
  CHECK_THROWS_AS(solvers::solve_eigen<double>(Context{}, problem, o, {}, resume), Error);
}
