// How inner products are shaped and searched for, against numbers worked out by hand.
#include "tallskinny/gemm/tsmttsm/search.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/tsmttsm/policy.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using cuda::InnerPolicy;
using cuda::InnerProblem;

namespace {

InnerProblem product(DType type, index_t rows, index_t p, index_t q) {
  return {type, rows, p, q, false, 1, {p, 1, 0}, {q, 1, 0}};
}

const cuda::BlockLimits h100 = cuda::limits_of(cuda::typical_device("sm_90a"), Determinism::run_to_run);

}  // namespace

TEST_CASE("the side of 16 takes the factor that wastes less of it") {
  CHECK_FALSE(cuda::inner_shape_of(product(DType::float64, 1000, 20, 8)).swap);  // 32 x 8, not 16 x 24
  CHECK(cuda::inner_shape_of(product(DType::float64, 1000, 8, 20)).swap);
  CHECK(cuda::inner_shape_of(product(DType::float64, 1000, 3, 5)).fold == 3);
}

TEST_CASE("the side of 64 does, too, unless 16 blocks of columns do not hold the other") {
  const auto swaps = [](index_t p, index_t q) {
    return cuda::swap_for_warpgroups(cuda::inner_shape_of(product(DType::float32, 1000, p, q)), false);
  };
  CHECK(swaps(16, 64));  // 64 x 16, not 64 x 64
  CHECK_FALSE(swaps(64, 16));
  CHECK_FALSE(swaps(129, 16));  // 64 x 136 would be less than 192 x 16, but is too wide
}

TEST_CASE("a lane loads as many columns at once as rows and blocks of columns divide by") {
  const cuda::TallLayout a = cuda::inner_shape_of(product(DType::float32, 1000, 24, 24)).a;
  CHECK(cuda::widest_vector(a, 1, 4, 8) == 4);
  CHECK(cuda::widest_vector(a, 1, 6, 8) == 2);
  CHECK(cuda::widest_vector(a, 1, 3, 8) == 1);
}

TEST_CASE("registers are those of sums, fragments and addresses") {
  CHECK(cuda::inner_registers.float64.of(2, 4) == 64 + 32 + 64);
  CHECK(cuda::inner_registers.half.of(1, 1) == 4 + 2 + 48);
  CHECK(cuda::inner_registers.three.of(1, 2) == 48 + 48 + 4 + 56);
  CHECK(cuda::inner_registers.left_to_warpgroups(12) == 152);
}

TEST_CASE("tilings come cheapest first, and those of few rows meet in clusters") {
  const auto tilings = cuda::inner_tilings(product(DType::float64, 1 << 24, 16, 16), h100);
  REQUIRE(tilings.size() > 1);
  for (std::size_t i = 1; i < tilings.size(); ++i) CHECK(tilings[i - 1].cost <= tilings[i].cost);
  CHECK_FALSE(tilings[0].brief);
  CHECK(tilings[0].most_stages == 2);  // memory binds
  CHECK(cuda::inner_tilings(product(DType::float64, 1 << 14, 16, 16), h100)[0].brief);
}

TEST_CASE("where memory wants few requests, a ring is as long as chunks are used soon") {
  cuda::BlockLimits h200 = h100;
  h200.few_requests = true;
  const auto asked = [&](DType type, index_t w) {
    return cuda::inner_tilings(product(type, 1 << 24, w, w), h200)[0].requests;
  };
  CHECK(asked(DType::float64, 8).quick);
  CHECK(asked(DType::float64, 8).kib == 64);
  CHECK(asked(DType::float16, 16).kib == 76);
  CHECK(asked(DType::float32, 64).kib == 0);  // takes long to multiply: as many chunks as fit
  CHECK(cuda::inner_tilings(product(DType::float64, 1 << 24, 8, 8), h100)[0].requests.kib == 0);
}

// Where things lie in the shared memory of the inner products, against numbers worked out by hand.

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
