// Launches that fill with random numbers, by hand.
#include "tallskinny/gemm/random/plan.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/random/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("a thread fills the widest piece that lines and their alignment allow") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  const auto few = cuda::plan_random_fill(DType::float32, {}, 1000, 6, device);
  const auto policy = cuda::policy_of<cuda::RandomFillPolicy>(few);
  CHECK(policy.vector == 2);  // 4 would not divide lines of 6
  CHECK(policy.alignment == 8);
  CHECK(few.grid == 12);  // 3000 pieces of 256 threads
  const auto odd = cuda::plan_random_fill(DType::float32, {Layout::row_major, false, 4, 1}, 1000, 8, device);
  CHECK(cuda::policy_of<cuda::RandomFillPolicy>(odd).vector == 1);
  CHECK(cuda::plan_random_fill(DType::float32, {}, 1'000'000'000, 6, device).grid == 8 * 132);
}
