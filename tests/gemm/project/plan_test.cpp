// Panels and candidates of projections, made without a GPU.
#include "tallskinny/gemm/project/plan.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("V and W are cut into equal panels, W only where V is narrow enough") {
  const cuda::BlockLimits limits = cuda::limits_of(cuda::typical_device("sm_90a"), Determinism::run_to_run);
  const auto whole = cuda::project_panels(DType::float64, 32, 8, limits);
  CHECK(whole.v == 32);
  CHECK(whole.w == 8);
  const auto wide = cuda::project_panels(DType::float64, 10000, 8, limits);
  CHECK(wide.w == 8);
  CHECK(wide.v <= 4096);
  CHECK(wide.v * ((10000 + wide.v - 1) / wide.v) - 10000 < (10000 + wide.v - 1) / wide.v);
}

TEST_CASE("16-bit types and what asks for nothing have no kernel, others have those that fit, best first") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem;
  problem.problem = {Operation::project_out, DType::float64, 1 << 20, 32, 8};
  problem.problem.wants_inner = problem.problem.wants_gram = true;
  const auto candidates = cuda::project_candidates(problem, device);
  REQUIRE(candidates.size() > 1);
  for (std::size_t i = 1; i < candidates.size(); ++i) CHECK(candidates[i - 1].seconds <= candidates[i].seconds);
  problem.problem.type = DType::bfloat16;
  CHECK(cuda::project_candidates(problem, device).empty());
  problem.problem = {Operation::inner_and_gram, DType::float64, 1 << 20, 32, 8};
  problem.problem.wants_inner = problem.problem.wants_gram = false;
  CHECK(cuda::project_candidates(problem, device).empty());
}
