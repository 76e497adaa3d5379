// Policies of triangular solves, by hand.
#include "tallskinny/gemm/trsm/plan.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using cuda::TrsmAccess;

namespace {

std::vector<cuda::TrsmPolicy> policies_of(index_t p, const cuda::Form& form) {
  cuda::GpuProblem problem{.problem = {Operation::trsm, DType::float64, 1 << 20, p, p}, .first = form};
  return cuda::trsm_policies(problem, cuda::typical_device("sm_90a"));
}

}  // namespace

TEST_CASE("narrow rows are held whole by a thread") {
  const auto policies = policies_of(4, {});
  REQUIRE(policies.size() == 6);
  CHECK(policies[0].access == TrsmAccess::whole_rows);
  CHECK(policies[0].columns == 4);
  CHECK(policies[0].vector == 2);
  CHECK(policies[0].tile_rows() == 256);
  CHECK(policies[1].access == TrsmAccess::staged);
  CHECK(policies[1].together == 2);  // 64 bytes of rows of 32
}

TEST_CASE("wide rows are staged, eight columns of float64 at a time") {
  const auto policies = policies_of(100, {});
  REQUIRE_FALSE(policies.empty());
  const cuda::TrsmPolicy& k = policies[0];
  CHECK(k.access == TrsmAccess::staged);
  CHECK(k.columns == 8);
  CHECK(k.together == 1);
  CHECK(k.factor_bytes() == 104 * 104 * 8 + 104 * 16);
  CHECK(k.shared_bytes() == k.factor_bytes() + 128 * 101 * 8);
  CHECK(k.blocks == 1);
}

TEST_CASE("columns are solved in place, with R in shared memory or not") {
  const auto policies = policies_of(16, {Layout::col_major, true, 256, 0});
  REQUIRE(policies.size() == 2);
  for (const auto& policy : policies) {
    CHECK(policy.access == TrsmAccess::in_place);
    CHECK(policy.columns == 4);
  }
  CHECK(policies[0].factor_shared);
  CHECK_FALSE(policies[1].factor_shared);
}
