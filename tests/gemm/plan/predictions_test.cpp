// The planner beside what was measured: tests/bench/results/candidates-*.txt has the times of kernels for square
// products of tall operands, libraries-*.txt those of cuBLAS beside the engine.

#include <regex>

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/library/policy.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

struct Cell {
  cuda::GpuProblem problem;
  std::map<std::string, double> seconds;  ///< by the kernel's name in the table
  double best = HUGE_VAL;
};

/// Row-major operands without gaps that move so many bytes.
cuda::GpuProblem problem_of(Operation operation, DType type, index_t p, index_t q, double all = 0x1p30) {
  cuda::GpuProblem problem{.problem = {operation, type, index_t{1} << 20, p, q}};
  const double bytes = cost_of(problem.problem).bytes();
  problem.problem.n = static_cast<index_t>(std::ldexp(all / bytes, 20));
  if (operation != Operation::tsmm) problem.op = Op::adjoint;
  return problem;
}

/// Tables name a kernel by these members of its policy: the others follow from the problem.
std::string name_of_kernel(const cuda::KernelPlan& kernel) {
  static const std::vector<std::string> of_rows = {"worker", "arithmetic", "tiles", "column_warps",
                                                   "teams",  "groups",     "slots", "lag"};
  static const std::vector<std::string> of_sums = {"kernel", "arithmetic", "sub_rows",    "stages",     "slices",
                                                   "flush",  "tiles_left", "tiles_right", "warps_left", "warps_right",
                                                   "three",  "residents",  "vector_b"};
  std::string name;
  const cuda::Defines defines = cuda::defines_of(kernel);
  for (const std::string& member : kernel.family == "tsmm" ? of_rows : of_sums)
    for (const auto& [key, value] : defines)
      if (key == member) name.append(name.empty() ? "" : "/").append(value);
  return name;
}

std::vector<Cell> measured(const std::string& name) {
  std::ifstream file(TS_RESULTS "/candidates-" + name);
  std::vector<Cell> cells;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string operation, type, kernel;
    index_t p = 0, q = 0;
    double microseconds = 0;
    words >> operation >> type >> p >> q;
    Cell& cell = cells.emplace_back(Cell{problem_of(*operation_named(operation), *dtype_named(type), p, q), {}});
    while (words >> kernel >> microseconds) {
      cell.seconds[kernel] = 1e-6 * microseconds;
      cell.best = std::min(cell.best, 1e-6 * microseconds);
    }
  }
  return cells;
}

cuda::DeviceInfo device_named(const std::string& name) {
  cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  if (name == "H200") device.read_bytes_per_second = 4.56e12, device.copy_bytes_per_second = 4.26e12;
  device.name = "NVIDIA " + name, device.tuned = std::make_shared<cuda::TunedTable>(cuda::shipped_table(device.name));
  return device;
}

/// "8192/128", or "rank"
std::string words_of(const cuda::KernelPlan& call) {
  const auto policy = cuda::policy_of<cuda::ProductPolicy>(call);
  return policy.rank_update ? "rank" : std::to_string(policy.slab_rows) + "/" + std::to_string(policy.panel);
}

/// Slabs of any rows count as one way, "slabs/128": their rows are by hand in the tables, and by the device in plans.
std::string cut_of(const std::string& words) {
  const std::size_t slash = words.find('/');
  return slash == std::string::npos || words.starts_with("0/") ? words : "slabs" + words.substr(slash);
}

}  // namespace

TEST_CASE("the planner's kernels and predictions are near what was measured", "[results]") {
  const auto [name, file, count] =
      GENERATE(std::tuple("H100", "2026-11-24-h100.txt", 1152), std::tuple("H200", "2026-11-30-h200.txt", 288));
  const cuda::DeviceInfo device = device_named(name);
  const std::vector<Cell> cells = measured(file);
  REQUIRE(cells.size() == static_cast<std::size_t>(count));
  std::vector<double> errors;
  int near = 0;
  for (const Cell& cell : cells) {
    const cuda::GpuPlan plan = cuda::make_plan(cell.problem, device);
    const auto found = cell.seconds.find(name_of_kernel(plan.kernel));
    if (found == cell.seconds.end()) continue;  // counts as far
    near += found->second <= 1.03 * cell.best;
    errors.push_back(std::fabs(plan.seconds / found->second - 1));
  }
  std::sort(errors.begin(), errors.end());
  INFO(name << ", within 3 % of the best: " << near << " of " << cells.size() << ", measured: " << errors.size()
            << ", median error of predictions: " << errors[errors.size() / 2] << ", of nine in ten at most "
            << errors[errors.size() * 9 / 10]);
  CHECK(near >= 0.95 * static_cast<double>(cells.size()));
  CHECK(errors[errors.size() / 2] <= 0.1);
  CHECK(errors[errors.size() * 9 / 10] <= 0.25);
}

TEST_CASE("the models alone choose between the engine and cuBLAS almost as well as measurements", "[results]") {
  const auto [name, day] =
      GENERATE(std::tuple("H100", "2026-11-26-h100.txt"), std::tuple("H200", "2026-11-30-h200.txt"));
  cuda::DeviceInfo device = device_named(name);
  device.tuned = nullptr;
  std::ifstream file(std::string(TS_RESULTS "/libraries-") + day);
  double all = 0, logs = 0;
  int cells = 0, far = 0, by_library = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch bytes;
    if (line.starts_with("====")) break;  // other tables
    if (line.starts_with('#')) {
      if (std::regex_search(line, bytes, std::regex("([0-9]+) ([GM])iB a run")))
        all = std::stod(bytes[1]) * (bytes[2] == "G" ? 0x1p30 : 0x1p20);
      continue;
    }
    std::istringstream words(line);
    std::string operation, type, way;
    index_t p = 0, q = 0;
    double microseconds = 0, times = 0, best = 1;
    if (!(words >> operation >> type >> p >> q >> microseconds) || operation == "tsm2r") continue;
    const cuda::GpuProblem problem = problem_of(*operation_named(operation), *dtype_named(type), p, q, all);
    const auto choice = cuda::library_choice(problem, device);
    double chosen = choice ? 0 : 1;
    while (words >> way >> times) {
      if (way != "own") best = std::max(best, times);
      if (choice && cut_of(words_of(choice->kernel)) == cut_of(way)) chosen = std::max(chosen, times);
    }
    ++cells, by_library += choice.has_value(), far += chosen < 0.8 * best;
    logs += std::log(chosen > 0 ? std::min(1.0, chosen / best) : 0.5);
  }
  REQUIRE(cells > 200);
  INFO(name << ": " << cells << " cells, " << by_library << " by the library, " << far
            << " chosen badly, speed of the chosen way over the best: " << std::exp(logs / cells));
  CHECK(by_library > cells / 10);
  CHECK(std::exp(logs / cells) > 0.98);
  CHECK(far < 0.05 * cells);
}
