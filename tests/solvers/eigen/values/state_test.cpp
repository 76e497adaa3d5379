// A run that is interrupted and resumed gives the bits of one that was not.
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"

using namespace ts::solvers;

namespace {

/// Stops after each of `stops` block steps and goes on from what was stored.
template <class T>
EigenResult<T> solve_with_stops(const EigenProblem<T>& problem, const EigenOptions& options, std::vector<int> stops) {
  Stored<T> stored;
  bool resume = false;
  for (;;) {
    auto o = options;
    int steps = 0;
    const bool last = stops.empty();
    if (!last) o.stop = [&steps, limit = stops.front()] { return steps++ >= limit; };
    const Stored<T> before = std::move(stored);
    stored = {};
    Checkpointing<T> checkpointing;
    checkpointing.write = [&stored](const SavedState<T>& s) { stored = Stored<T>(s); };
    if (resume) checkpointing.resume = &before.state;
    auto r = solve_eigen<T>(Context{}, problem, o, HostView<const T>{}, checkpointing);
    if (r.stop != StopReason::interrupted) {
      CHECK(last);
      return r;
    }
    resume = true;
    stops.erase(stops.begin());
  }
}

template <class T>
void check_same(const EigenProblem<T>& problem, const EigenOptions& options, const std::vector<int>& stops) {
  const auto whole = test::solve(problem, options);
  const auto parts = solve_with_stops<T>(problem, options, stops);
  CHECK(whole.verified);
  CHECK(parts.values == whole.values);
  CHECK(parts.residual_norms == whole.residual_norms);
  CHECK(parts.verification == whole.verification);
  CHECK(parts.iterations == whole.iterations);
  CHECK(parts.operator_applications == whole.operator_applications);
  CHECK(parts.history.size() == whole.history.size());
  CHECK(same(parts.vectors, whole.vectors));
}

void run_table(const std::vector<DegenerateProblem>& problems, std::uint64_t seeds) {
  for (const auto& p : problems)
    for (const double tol : {1e-6, 1e-10})
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(p.name, tol, seed);
        judge(p, {.tol = tol, .method = Method::lanczos, .seed = seed});
      }
}

}  // namespace

TEST_CASE("stopped and resumed, same bits: search, filter, fresh blocks, inverse") {
  const auto lap = generators::laplacian({14, 14, 14});
  check_same(problem_of(lap), seeded_options(10, Which::SA, Method::lanczos), {1, 7, 20, 30});
  check_same(problem_of(lap), seeded_options(10, Which::SA, Method::chebyshev), {0, 13, 5, 9});

  const auto copies = generators::laplacian_copies(8, 100);  // as many copies as columns: a fresh block
  const auto whole = solve(copies, seeded_options(16, Which::SA, Method::lanczos));
  REQUIRE(whole.verification_rounds > 0);
  int search_steps = 0;
  for (const auto& entry : whole.history)
    if (!entry.verifying) search_steps = static_cast<int>(entry.iteration);
  check_same(problem_of(copies), seeded_options(16, Which::SA, Method::lanczos), {search_steps + 5, 3, 20});

  const auto ring = generators::flux_ring(600, 0.3);
  auto inverse = factorised(ring);
  inverse.count_below = InertiaCounter<std::complex<double>>(ring.view(), 1e9);
  check_same(inverse, seeded_options(6, Which::SA, Method::automatic), {3, 2});
}

TEST_CASE("the state of another run is refused") {
  const auto lap = generators::laplacian({14, 14, 14});
  auto o = seeded_options(5, Which::SA, Method::lanczos);
  o.max_iterations = 5;
  Stored<double> stored;
  auto& state = stored.state;
  const auto solve_from = [&](const Checkpointing<double>& c) {
    return solve_eigen<double>(Context{}, problem_of(lap), o, {}, c);
  };
  CHECK(solve_from({.write = [&](const SavedState<double>& s) { stored = Stored<double>(s); }}).stop ==
        StopReason::max_iterations);
  REQUIRE_FALSE(state.numbers.empty());
  o.max_iterations = 0;  // a larger budget is what one resumes for
  CHECK(solve_from({.resume = &state}).verified);
  o.nev = 6;
  CHECK_THROWS_AS(solve_from({.resume = &state}), Error);
  o.nev = 5;
  state.numbers.resize(state.numbers.size() - 4);
  CHECK_THROWS_AS(solve_from({.resume = &state}), Error);
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
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(fractions[i] - expected[i]) < allowed::many_steps);
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
  CHECK((low.low == -2 && low.high == inf && high.low == -inf && high.high == 1));
}

TEST_CASE("equal values keep their order, and columns follow it") {
  const Indices order = rising_order({3, 1, 2, 1});
  CHECK(order == Indices{1, 3, 2, 0});
  const auto a = matrix_of<double>(1, 4, [](index_t, index_t j) { return static_cast<double>(j); });
  CHECK(same(columns_of(a, order), matrix_of<double>(1, 4, [&](index_t, index_t j) {
               return static_cast<double>(order[static_cast<std::size_t>(j)]);
             })));
}

TEST_CASE("degenerate spectra are found complete") { run_table(degenerate_problems(), 1); }

TEST_CASE("multiplicities beyond the block, both ends and targets") { run_table(harder_problems(), 1); }

TEST_CASE("degenerate spectra are found complete whatever the seed", "[.full]") {
  run_table(degenerate_problems(), 10);
  run_table(harder_problems(), 3);
}
