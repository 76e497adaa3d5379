// Policies and launches of column norms, by hand.
#include "tallskinny/gemm/norms/plan.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

cuda::GpuProblem norms_of(index_t n, index_t p, const cuda::Form& form) {
  return cuda::GpuProblem{.problem = {Operation::column_norms, DType::float64, n, p, p}, .first = form};
}

}  // namespace

TEST_CASE("rows of odd length fold until they are whole pieces of 16 bytes") {
  const auto policy = cuda::column_norms_policy(norms_of(1000, 5, {}));
  CHECK(policy.fold == 2);
  CHECK(policy.tile == 5);
  CHECK(policy.vector == 2);
  CHECK(policy.alignment == 16);
  CHECK(policy.line_threads() == 5);
  CHECK(policy.lines_at_once() == 51);
  const auto gaps = cuda::column_norms_policy(norms_of(1000, 5, {Layout::row_major, false, 8, 1}));
  CHECK(gaps.fold == 1);
  CHECK(gaps.vector == 1);
  CHECK(gaps.alignment == 8);
}

TEST_CASE("columns are tiles of their own, as aligned as their length allows") {
  const auto even = cuda::column_norms_policy(norms_of(1000, 3, {Layout::col_major, true, 256, 0}));
  CHECK(even.tiles() == 3);
  CHECK(even.fold == 2);
  CHECK(even.vector == 2);
  CHECK(cuda::column_norms_policy(norms_of(1001, 3, {Layout::col_major, true, 256, 0})).vector == 1);
}

TEST_CASE("as many blocks as the device holds, and 33 for each part at level gpu_to_gpu") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem = norms_of(1'000'000, 5, {});
  const auto whole = cuda::column_norms_candidates(problem, device).front().kernel;
  CHECK(whole.grid == 3 * 132);
  CHECK(whole.workspace_bytes == 396 * 5 * 3 * 8);
  problem.parts = 24, problem.determinism = Determinism::gpu_to_gpu;
  CHECK(cuda::column_norms_candidates(problem, device).front().kernel.grid == 24 * 33);
  // 100 rows are 50 lines, which one block reads at once.
  CHECK(cuda::column_norms_candidates(norms_of(100, 5, {}), device).front().kernel.grid == 1);
}
