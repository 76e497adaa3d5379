// Panels and candidates of projections, made without a GPU.
#include "tallskinny/gemm/project/plan.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/project/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using cuda::ProjectPolicy;

namespace {

ProjectPolicy steps(DType type, int p, int q) {
  ProjectPolicy policy;
  policy.type = type, policy.p = policy.pitch_v = p, policy.q = policy.pitch_w = q;
  return policy;
}

}  // namespace

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
  cuda::GpuProblem problem{.problem = {Operation::project_out, DType::float64, 1 << 20, 32, 8}};
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

// Where things lie in the shared memory of `project`, against numbers worked out by hand.

TEST_CASE("all steps by float64: barriers, S as a fragment, and a ring for each warp") {
  ProjectPolicy policy = steps(DType::float64, 4, 3);
  policy.update = policy.inner = policy.gram = true;
  policy.tiles = 2, policy.stages = 3;
  CHECK(policy.threads() == 256);
  // Four sub-blocks of 8 rows: 256 bytes of V and 192 of W, both in 256, and 32 more to part the banks.
  CHECK(policy.w_offset() == 4 * (256 + 32));
  CHECK(policy.slot_bytes() == 2 * 1152);
  CHECK(policy.factor_offset() == 8 * 8 * (3 + 1));
  CHECK(policy.ring_offset() == 256 + 1024);
  // The rings are larger than 8 products of 32 rows, 10 numbers apart.
  CHECK(policy.shared_bytes() == 1280 + 8 * 3 * 2304);
}

TEST_CASE("a Gram matrix of complex columns has no V in its slots") {
  ProjectPolicy policy = steps(DType::complex64, 1, 5);
  policy.gram = true, policy.mode_w = cuda::TallMode::by_columns;
  policy.tiles = 4, policy.stages = 2, policy.group_left = 2, policy.groups = 4;
  CHECK(policy.subs() == 1);
  CHECK(policy.threads() == 256);
  CHECK(policy.w_offset() == 0);
  CHECK(policy.slot_bytes() == 2944);  // five columns of 64 x 8 + 64 bytes, in whole lines of 128
  CHECK(policy.left_tiles() == 1);
  CHECK(policy.right_blocks() == 2);
  CHECK(policy.ring_offset() == 128);  // 96 bytes of barriers
  CHECK(policy.shared_bytes() == 128 + 4 * 2 * 2944);
}

TEST_CASE("wide products take more room than the rings, whose place they take") {
  ProjectPolicy policy = steps(DType::float32, 64, 64);
  policy.inner = true, policy.shift_v = true;
  policy.groups = 2;
  CHECK(policy.w_offset() == 4 * (1280 + 32));  // 1024 bytes and 144 for the shift
  CHECK(policy.slot_bytes() == 5248 + 4 * (1024 + 32));
  CHECK(policy.product_rows() == 64);
  CHECK(policy.product_pitch() == 66);
  CHECK(policy.shared_bytes() == 128 + 2 * 64 * 66 * 8);
}

TEST_CASE("a plan carries the policy of project as text") {
  ProjectPolicy policy = steps(DType::complex128, 7, 9);
  policy.update = policy.shift_w = true, policy.mode_v = cuda::TallMode::by_rows;
  CHECK(cuda::policy_of<ProjectPolicy>(cuda::plan_of("project", policy)) == policy);
}
