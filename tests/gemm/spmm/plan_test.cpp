// Policies of sparse times a block, by hand.
#include "tallskinny/gemm/spmm/plan.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

cuda::SpmmPolicy policy_of(index_t q, index_t entries, Layout layout = Layout::row_major) {
  cuda::GpuProblem problem;
  problem.problem = {Operation::spmm, DType::float64, 1000, 1000, q};
  problem.problem.nonzeros = 1000 * entries, problem.problem.index_bytes = 4;
  problem.second.layout = problem.out.layout = layout;
  return cuda::spmm_policy(problem);
}

}  // namespace

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

TEST_CASE("columns are reached one element at a time") {
  const auto k = policy_of(8, 8, Layout::col_major);
  CHECK(k.strided);
  CHECK(k.vector == 1);
  CHECK(k.alignment == 8);
}
