// Where things lie in the shared memory of the inner products, against numbers worked out by hand.
#include "tallskinny/gemm/tsmttsm/policy.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using cuda::InnerPolicy;

TEST_CASE("an inner product of float64: barriers, a ring, and sums that take its place") {
  InnerPolicy policy;
  policy.p = policy.pitch_a = 8, policy.q = policy.pitch_b = 8;
  policy.sub_rows = 32, policy.stages = 4;
  CHECK(policy.threads() == 32 * (8 + 1));
  CHECK(policy.stage_bytes() == 2 * 4 * (32 * 64 + 32));
  CHECK(policy.ring_offset(false) == 128);
  CHECK(policy.kept_bytes() == 8 * 32 * 4 * 8);
  CHECK(policy.shared_bytes() == 128 + 4 * 16640 + 64);
}

TEST_CASE("clusters send fragments of float16, which begin in float32 and are flushed") {
  InnerPolicy policy;
  policy.type = DType::float16, policy.arithmetic = cuda::Arithmetic::half;
  policy.p = policy.pitch_a = 16, policy.q = policy.pitch_b = 8;
  policy.sub_rows = 32, policy.flush = 64, policy.cluster = 8;
  CHECK(policy.numbers() == 128);
  CHECK(policy.inbox_bytes() == 128 * 8 + 16);
  CHECK(policy.sums_offset(true) == 1280);
  CHECK(policy.ring_offset(true) == 1280 + 8 * 32 * 4 * 8);
}
