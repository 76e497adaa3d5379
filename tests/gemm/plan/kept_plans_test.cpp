#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/plan/typical_device.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

cuda::GpuProblem problem_of(index_t rows) {
  cuda::GpuProblem problem;
  problem.problem = {Operation::tsmm, DType::float64, rows, 8, 8};
  return problem;
}

}  // namespace

TEST_CASE("a plan is made once for a problem and a device") {
  const cuda::DeviceInfo h100 = cuda::typical_device("sm_90a"), a100 = cuda::typical_device("sm_80");
  const auto plan = cuda::kept_plan(problem_of(1 << 20), h100);
  CHECK(plan->kernel.plan() == cuda::make_plan(problem_of(1 << 20), h100).kernel);
  CHECK(cuda::kept_plan(problem_of(1 << 20), h100) == plan);
  CHECK(cuda::kept_plan(problem_of(1 << 21), h100) != plan);
  CHECK(cuda::kept_plan(problem_of(1 << 20), a100) != plan);
}

TEST_CASE("a plan stays valid while others take its place") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  const auto plan = cuda::kept_plan(problem_of(12345), device);
  for (index_t rows = 1; rows <= 1100; ++rows) (void)cuda::kept_plan(problem_of(rows), device);
  CHECK(plan->kernel.plan() == cuda::make_plan(problem_of(12345), device).kernel);
  CHECK(cuda::kept_plan(problem_of(12345), device)->kernel.plan() == plan->kernel.plan());
}
