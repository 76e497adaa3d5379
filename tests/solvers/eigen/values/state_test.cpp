// A run that is interrupted and resumed gives the bits of one that was not.
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/solvers/eigen/stored.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::Method;
using solvers::Which;
using namespace ts::solvers;

namespace {

/// Stops after each of `stops` block steps and goes on from what was stored.
template <class T>
solvers::EigenResult<T> solve_with_stops(const solvers::EigenProblem<T>& problem, const solvers::EigenOptions& options,
                                         std::vector<int> stops) {
  test::Stored<T> stored;
  bool resume = false;
  for (;;) {
    auto o = options;
    int steps = 0;
    const bool last = stops.empty();
    if (!last) o.stop = [&steps, limit = stops.front()] { return steps++ >= limit; };
    const test::Stored<T> before = std::move(stored);
    stored = {};
    solvers::Checkpointing<T> checkpointing;
    checkpointing.write = [&stored](const solvers::SavedState<T>& s) { stored = test::Stored<T>(s); };
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
  return solvers::EigenOptions{.nev = nev, .which = which, .method = method, .seed = 0xfedcba9876543210u};
}

void run_table(const std::vector<test::DegenerateProblem>& problems, std::uint64_t seeds) {
  for (const auto& p : problems)
    for (const double tol : {1e-6, 1e-10})
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(p.name, tol, seed);
        const auto j = test::judge(Context{}, p, {.tol = tol, .method = solvers::Method::lanczos, .seed = seed});
        CAPTURE(j.reason, j.worst);
        CHECK(j.right);
        CHECK(j.verified);
        CHECK(j.loss < test::allowed::long_sum);
      }
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
  test::Stored<double> stored;
  auto& state = stored.state;
  solvers::Checkpointing<double> checkpointing;
  checkpointing.write = [&](const solvers::SavedState<double>& s) { stored = test::Stored<double>(s); };
  CHECK(solvers::solve_eigen<double>(Context{}, problem, o, {}, checkpointing).stop ==
        solvers::StopReason::max_iterations);
  REQUIRE_FALSE(state.numbers.empty());
  solvers::Checkpointing<double> resume{.resume = &state};
  o.max_iterations = 0;  // a larger budget is what one resumes for
  CHECK(solvers::solve_eigen<double>(Context{}, problem, o, {}, resume).verified);
  o.nev = 6;
  CHECK_THROWS_AS(solvers::solve_eigen<double>(Context{}, problem, o, {}, resume), Error);
  o.nev = 5;
  state.numbers.resize(state.numbers.size() - 4);
  CHECK_THROWS_AS(solvers::solve_eigen<double>(Context{}, problem, o, {}, resume), Error);
}

TEST_CASE("the fraction that is told counts decades before any pair has converged", "[eigen][progress]") {
  std::vector<double> fractions;
  std::vector<HistoryEntry> history;
  EigenOptions options;
  options.progress = [&](const Progress& p) { fractions.push_back(p.fraction); };
  const auto look = [&](std::vector<double> ratios) {
    return note_look({}, std::move(ratios), false, options, 100, 2, history);
  };
  CHECK(look({1e8, 1e8}) == 0);
  CHECK(look({1e4, 1e8}) == 0);
  CHECK(look({0.5, 1e6}) == 1);
  CHECK(look({0.5, 1e9}) == 1);  // a new largest one
  CHECK(look({1e9, std::numeric_limits<double>::infinity()}) == 0);
  CHECK(look({0.5, 1}) == 2);
  const std::vector<double> expected = {0, 0.25, 0.625, 0.5, 0, 1};
  REQUIRE(fractions.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(fractions[i] == Approx(expected[i]).margin(test::allowed::many_steps));
}

using Indices = std::vector<index_t>;

namespace {
const std::vector<double> values = {-5, -2, 0, 1, 4};

bool is(Ends ends, index_t low, index_t high) { return ends.low == low && ends.high == high; }
}  // namespace

TEST_CASE("the wanted values lie at the ends") {
  CHECK(is(wanted_ends(values, Which::SA, 2), 2, 0));
  CHECK(is(wanted_ends(values, Which::LA, 2), 0, 2));
  CHECK(is(wanted_ends(values, Which::BE, 3), 1, 2));
  CHECK(is(wanted_ends(values, Which::LM, 3), 2, 1));  // -5, 4, -2
  CHECK(wanted_ends(values, Which::SA, 9).total() == 5);
  CHECK(indices_of({1, 2}, 5) == Indices{0, 3, 4});
  CHECK(indices_of({0, 0}, 5).empty());
}

TEST_CASE("a set grows on its open sides, to all values") {
  CHECK(is(grown_ends(values, Which::SA, {1, 0}, 2), 3, 0));
  CHECK(is(grown_ends(values, Which::LA, {0, 1}, 9), 0, 5));
  CHECK(is(grown_ends(values, Which::BE, {1, 1}, 3), 2, 3));
  CHECK(is(grown_ends(values, Which::LM, {1, 0}, 2), 2, 1));  // 4 and -2 come next
}

TEST_CASE("thresholds are the innermost of the wanted values") {
  const double inf = std::numeric_limits<double>::infinity();
  const Thresholds low = thresholds(values, Which::SA, {2, 0}), high = thresholds(values, Which::LA, {0, 2});
  CHECK(low.low == -2);
  CHECK(low.high == inf);
  CHECK(high.low == -inf);
  CHECK(high.high == 1);
}

TEST_CASE("equal values keep their order, and columns follow it") {
  const Indices order = rising_order({3, 1, 2, 1});
  CHECK(order == Indices{1, 3, 2, 0});
  Matrix<double> a(1, 4);
  for (index_t j = 0; j < 4; ++j) a(0, j) = static_cast<double>(j);
  const auto chosen = columns_of(a, order);
  for (index_t j = 0; j < 4; ++j) CHECK(chosen(0, j) == static_cast<double>(order[static_cast<std::size_t>(j)]));
}

TEST_CASE("degenerate spectra are found complete") { run_table(test::degenerate_problems(), 1); }

TEST_CASE("multiplicities beyond the block, both ends and targets") { run_table(test::harder_problems(), 1); }

TEST_CASE("degenerate spectra are found complete whatever the seed", "[.full]") {
  run_table(test::degenerate_problems(), 10);
  run_table(test::harder_problems(), 3);
}
