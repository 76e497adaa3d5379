// Policies of sparse times a block, by hand, and the planner's choices beside what was measured.
#include "tallskinny/gemm/library/plan.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/spmm/plan.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

cuda::GpuProblem problem_of(index_t q, index_t entries) {
  cuda::GpuProblem problem{.problem = {Operation::spmm, DType::float64, 1000, 1000, q}};
  problem.problem.nonzeros = 1000 * entries, problem.problem.index_bytes = 4;
  return problem;
}
cuda::SpmmPolicy policy_of(index_t q, index_t entries, Layout layout = Layout::row_major) {
  cuda::GpuProblem problem = problem_of(q, entries);
  problem.second.layout = problem.out.layout = layout;
  return cuda::spmm_policy(problem);
}

/// The times of all candidates for one matrix and one width, as tests/bench/results/gpu-sparse-*.txt has them.
struct Cell {
  std::string pattern;
  cuda::GpuProblem problem;
  std::vector<std::pair<std::string, double>> seconds;  ///< by family and the defines that tell it from the others
};

/// Facts of the patterns of tsbench (app/tsbench/case.hpp), with about as many rows as were measured.
SparseFacts facts_of(const std::string& pattern, const Problem& pr) {
  static const std::map<std::string, SparseFacts> all = {{"rows", {.longest = 7, .uneven = 1, .scattered = 7}},
                                                         {"band", {.longest = 17}},
                                                         {"random", {.longest = 16, .scattered = 99}},
                                                         {"graph", {.longest = 400000, .uneven = 375, .scattered = 87}},
                                                         {"blocks", {.longest = 128}}};
  SparseFacts facts = all.at(pattern);
  facts.parts = csr_part_count(pr.n, pr.nonzeros);
  return facts;
}

/// A cell's line has its pattern, type, rows, entries and columns. Each kernel has a line below that begins with a
/// blank: microseconds, family, defines. Lines before the first empty one tell of the run.
std::vector<Cell> measured() {
  std::ifstream file(TS_RESULTS "/gpu-sparse-2026-11-26-h100.txt");
  std::vector<Cell> cells;
  std::string line;
  while (std::getline(file, line) && !line.empty()) {
  }
  bool library = false;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (line.starts_with(' ')) {
      double microseconds = 0;
      std::string name;
      std::getline(words >> microseconds >> std::ws, name);
      if (library || !name.starts_with("cusparse")) cells.back().seconds.emplace_back(name, microseconds * 1e-6);
      continue;
    }
    Cell cell;
    Problem& pr = cell.problem.problem;
    std::string type;
    words >> cell.pattern >> type >> pr.n >> pr.nonzeros >> pr.q;
    pr.operation = Operation::spmm, pr.type = *dtype_named(type), pr.p = pr.n, pr.index_bytes = 4;
    cell.problem.sparse = facts_of(cell.pattern, pr);
    library = !cuda::cusparse_candidates(cell.problem, cuda::typical_device("sm_90a")).empty();
    cells.push_back(std::move(cell));
  }
  return cells;
}

/// The time that was measured of a kernel.
std::optional<double> seconds_of(const Cell& cell, const cuda::KernelPlan& kernel) {
  for (const auto& [name, seconds] : cell.seconds) {
    std::istringstream words(name);
    std::string family, define;
    cuda::Defines defines;
    for (words >> family; words >> define;)
      defines.emplace_back(define.substr(0, define.find('=')), define.substr(define.find('=') + 1));
    if (family == kernel.family && cuda::has_defines(kernel, defines)) return seconds;
  }
  return std::nullopt;
}

using Pointers = std::vector<index_t>;

Pointers pointers_of(const std::vector<index_t>& lengths) {
  Pointers pointers = {0};
  for (const index_t length : lengths) pointers.push_back(pointers.back() + length);
  return pointers;
}

/// Rows of one length, none at all, empty ones around a long one, a few lengths by turns, one row of many parts.
std::vector<Pointers> matrices() {
  std::vector<index_t> by_turns, sparse(5000, 0);
  for (index_t i = 0; i < 3000; ++i) by_turns.push_back(i % 7 * (i % 11) * (i % 3));
  sparse[1234] = 20000, sparse[1235] = 1, sparse[4999] = csr_part;
  std::vector<Pointers> all = {Pointers{0}, pointers_of(sparse), pointers_of(by_turns), pointers_of({100000})};
  for (const index_t length : {0, 1, 16, csr_part - 2, csr_part - 1, csr_part, csr_part + 1, 1000})
    all.push_back(pointers_of(std::vector<index_t>(500, length)));
  return all;
}

}  // namespace

TEST_CASE("the plan of a sparse product takes at most 1/0.98 of the time of the fastest kernel measured on an H100",
          "[results]") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  const std::vector<Cell> cells = measured();
  REQUIRE(cells.size() == 135);
  for (const Cell& cell : cells) {
    const cuda::GpuPlan plan = cuda::make_plan(cell.problem, device, {.family = {}, .libraries = true});
    const auto seconds = seconds_of(cell, plan.kernel);
    const auto best = std::min_element(cell.seconds.begin(), cell.seconds.end(),
                                       [](const auto& x, const auto& y) { return x.second < y.second; });
    CAPTURE(cell.pattern, cuda::tuned_key(cell.problem), cuda::explain(plan, device), best->first, best->second);
    REQUIRE(seconds.has_value());
    CHECK(best->second >= 0.98 * *seconds);
  }
}

TEST_CASE("long rows side by side go by rows, and one among short ones by parts") {
  cuda::GpuProblem problem{.problem = {Operation::spmm, DType::float64, 1000000, 1000000, 4}};
  problem.problem.nonzeros = 40000000, problem.problem.index_bytes = 4;
  problem.sparse = {.parts = csr_part_count(1000000, 40000000), .longest = 128};
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  CHECK(cuda::make_plan(problem, device).kernel.family == "spmm_rows");
  problem.sparse.longest = 400000;
  CHECK(cuda::make_plan(problem, device).kernel.family == "spmm_parts");
  problem.sparse.longest = 128, problem.sparse.uneven = 300;
  CHECK(cuda::make_plan(problem, device).kernel.family == "spmm_parts");
}

TEST_CASE("one column is a lane's, and teams of lanes share long rows") {
  const auto k = policy_of(1, 5);
  CHECK(k.lanes == 1);
  CHECK(k.vector == 1);
  CHECK(k.unroll == 4);
  CHECK(k.split == 1);
  CHECK(policy_of(1, 100).split == 8);  // of at least 8 entries each
  CHECK(policy_of(1, 1000).split == 32);
}

TEST_CASE("a lane takes 32 bytes of a row, and fewer lanes several passes where they would idle") {
  const auto eight = policy_of(8, 8);
  CHECK(eight.vector == 2);
  CHECK(eight.lanes == 2);
  CHECK(eight.passes() == 2);
  CHECK(eight.unroll == 2);
  CHECK(eight.blocks == 3);  // 66 registers a thread
  const auto six = policy_of(6, 8);
  CHECK(six.lanes == 1);  // of two, one would wait in the second pass
  CHECK(six.passes() == 3);
}

TEST_CASE("parts of a matrix share their rows as the whole does") {
  auto problem = problem_of(8, 8);
  problem.sparse.of_row = 100;  // where these rows have 8
  CHECK(cuda::spmm_policy(problem).split == policy_of(8, 100).split);
}

TEST_CASE("at level gpu_to_gpu whole rows are summed, however uneven they are") {
  auto problem = problem_of(8, 16);
  problem.sparse = {.parts = 500, .splits = 20, .longest = 5000, .uneven = 400};
  CHECK(cuda::spmm_candidates(problem, cuda::typical_device("sm_90a")).size() > 1);
  problem.determinism = Determinism::gpu_to_gpu;
  const auto all = cuda::spmm_candidates(problem, cuda::typical_device("sm_90a"));
  REQUIRE(all.size() == 1);
  CHECK(all.front().kernel.family == "spmm_rows");
}

TEST_CASE("at level gpu_to_gpu the order of sums does not depend on where blocks lie") {
  for (const index_t q : {1, 3, 6, 8, 20, 64})
    for (const DType type : {DType::float64, DType::float32, DType::complex64, DType::complex128})
      for (const index_t of_row : {7, 30, 300}) {
        std::set<int> splits;
        for (const int alignment : {static_cast<int>(size_of(type)), 16}) {
          auto problem = problem_of(q, of_row);
          problem.problem.type = type, problem.determinism = Determinism::gpu_to_gpu;
          problem.second.alignment = problem.out.alignment = alignment;
          splits.insert(cuda::spmm_policy(problem).split);
        }
        CAPTURE(q, of_row, type);
        CHECK(splits.size() == 1);
      }
}

TEST_CASE("columns are reached one element at a time") {
  const auto k = policy_of(8, 8, Layout::col_major);
  CHECK(k.strided);
  CHECK(k.vector == 1);
  CHECK(k.alignment == 8);
}

TEST_CASE("one kernel computes residuals of any number of columns, and teams share the entries of long rows") {
  const auto plan = [](index_t of_row) { return cuda::plan_residual(DType::float64, 4, 1000, of_row); };
  const auto split = [&](index_t of_row) { return cuda::policy_of<cuda::ResidualPolicy>(plan(of_row)).split; };
  CHECK(plan(7).family == "residual_rows");
  CHECK(plan(7).grid == 32);  // 32 rows a block, 8 lanes each
  CHECK(split(0) == 1);
  CHECK(split(7) == 1);
  CHECK(split(16) == 2);  // of at least 8 entries each
  CHECK(split(5000) == 4);
  CHECK(plan(5000).grid == 125);
  CHECK(cuda::plan_residual(DType::complex64, 8, 0, 0).grid == 0);
}

// Matrices cut into parts of equal work.

TEST_CASE("parts hold equal work, each row ends in one of them, and split rows are what parts leave") {
  for (const Pointers& pointers : matrices()) {
    const auto rows = static_cast<index_t>(pointers.size()) - 1, units = rows + pointers.back();
    CAPTURE(rows, pointers.back());
    const cuda::CutRows cut = cuda::cut_rows(pointers.data(), rows);
    const auto count = static_cast<index_t>(cut.cuts.size()) - 1;
    REQUIRE(count == csr_part_count(rows, pointers.back()));
    CHECK((cut.cuts.front() == 0 && cut.cuts.back() == rows));
    std::vector<SplitRow> splits;
    for (index_t part = 0; part < count; ++part) {
      const index_t begin = part * csr_part, end = std::min(units, begin + csr_part);
      const index_t row = cut.cuts[static_cast<std::size_t>(part)], next = cut.cuts[static_cast<std::size_t>(part) + 1];
      CHECK(next == rows_ended(pointers.data(), 0, rows, end));
      const index_t entry = begin - row, entry_end = end - next;  // of the units, those that are no ends of rows
      const auto at = [&](index_t r) { return pointers[static_cast<std::size_t>(r)]; };
      CHECK((entry <= entry_end && entry_end <= pointers.back()));
      CHECK((row == rows || (at(row) <= entry && entry <= at(row + 1))));
      CHECK((next == row || at(next) <= entry_end));
      if (next == rows || at(next) >= entry_end) continue;  // leaves nothing
      if (at(next) >= entry)
        splits.push_back({next, part, 1});
      else
        ++splits.back().count;
    }
    const auto is_long = [](const SplitRow& split) { return split.count > few_parts; };
    CHECK(cut.long_splits == std::count_if(splits.begin(), splits.end(), is_long));
    std::stable_partition(splits.begin(), splits.end(), is_long);
    REQUIRE(splits.size() == cut.splits.size());
    for (std::size_t k = 0; k < splits.size(); ++k)
      CHECK((splits[k].row == cut.splits[k].row && splits[k].first == cut.splits[k].first &&
             splits[k].count == cut.splits[k].count));
  }
}

TEST_CASE("teams share all entries of a part") {
  for (int teams = 1; teams <= 32; teams *= 2)
    for (int entries = 0; entries <= csr_part; ++entries) CHECK(teams * team_share(entries, teams) >= entries);
}

TEST_CASE("facts tell of the lengths of rows") {
  const Pointers even = pointers_of(std::vector<index_t>(100, 16)), uneven = pointers_of({1, 1, 1, 1, 96});
  const auto facts = [](const Pointers& p) {
    const auto rows = static_cast<index_t>(p.size()) - 1;
    return cuda::facts_of_rows(p.data(), rows, cuda::cut_rows(p.data(), rows));
  };
  CHECK((facts(even).longest == 16 && facts(even).uneven == 0 && facts(even).parts == 8));
  CHECK((facts(uneven).longest == 96 && facts(uneven).uneven == 380));
  CHECK(facts(pointers_of({16, 16, 16, 16, 16, 16, 16, 16, 1, 1, 1, 1, 1, 1, 1, 1})).uneven == 0);
}

TEST_CASE("scattered columns are told from near ones") {
  const auto scattered = [](index_t rows, index_t apart) {
    return cuda::ColumnSample::scattered(rows, [apart](index_t i, auto&& add) {
      for (index_t k = 0; k < 16; ++k) add((i + k) * apart);
    });
  };
  CHECK(scattered(10000, 1) <= 2);
  CHECK(scattered(100, 8) == 100 * 115 / 1600);
  CHECK(scattered(0, 1) == 0);
}
