// The planner beside what was measured: tests/bench/results/candidates-*.txt has the times of the kernels that it ranks
// first for square products of tall operands, of 1 to 64 columns in six types.

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

struct Cell {
  cuda::GpuProblem problem;
  std::vector<double> seconds;  ///< of candidates as they are ranked
};

/// Row-major operands without gaps that move 1 GiB.
cuda::GpuProblem problem_of(Operation operation, DType type, index_t p, index_t q) {
  cuda::GpuProblem problem{.problem = {operation, type, index_t{1} << 20, p, q}};
  const double bytes = cost_of(problem.problem).bytes();
  problem.problem.n = static_cast<index_t>(std::ldexp(std::ldexp(1.0, 30) / bytes, 20));
  if (operation != Operation::tsmm) problem.op = Op::adjoint;
  return problem;
}

std::vector<Cell> measured() {
  std::ifstream file(TS_RESULTS "/candidates-2026-11-24-h100.txt");
  std::vector<Cell> cells;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string operation, type;
    index_t p = 0, q = 0;
    words >> operation >> type >> p >> q;
    cells.push_back({problem_of(*operation_named(operation), *dtype_named(type), p, q), {}});
    for (double microseconds = 0; words >> microseconds;) cells.back().seconds.push_back(microseconds * 1e-6);
  }
  return cells;
}

/// The place of the planner's kernel among those that were measured; nothing where it was not.
std::optional<std::size_t> place_of(const cuda::GpuPlan& plan, const Cell& cell, const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> kernels;
  for (const cuda::Candidate& candidate : cuda::ranked_candidates(cell.problem, device))
    if (std::find(kernels.begin(), kernels.end(), candidate.kernel) == kernels.end())
      kernels.push_back(candidate.kernel);
  const auto found = std::find(kernels.begin(), kernels.end(), plan.kernel);
  const auto place = static_cast<std::size_t>(found - kernels.begin());
  return place < cell.seconds.size() ? std::optional(place) : std::nullopt;
}

}  // namespace

TEST_CASE("the planner's kernels and predictions are near what was measured on an H100", "[results]") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  const std::vector<Cell> cells = measured();
  REQUIRE(cells.size() == 1152);
  std::vector<double> errors;
  int near = 0;
  for (const Cell& cell : cells) {
    const cuda::GpuPlan plan = cuda::make_plan(cell.problem, device);
    const auto place = place_of(plan, cell, device);
    if (!place) continue;  // counts as far
    const double seconds = cell.seconds[*place];
    near += seconds <= 1.03 * *std::min_element(cell.seconds.begin(), cell.seconds.end());
    errors.push_back(std::fabs(plan.seconds / seconds - 1));
  }
  std::sort(errors.begin(), errors.end());
  INFO("within 3 % of the best: " << near << " of " << cells.size() << ", measured: " << errors.size()
                                  << ", median error of predictions: " << errors[errors.size() / 2]);
  CHECK(near >= 0.95 * static_cast<double>(cells.size()));
  CHECK(errors[errors.size() / 2] <= 0.15);
}
