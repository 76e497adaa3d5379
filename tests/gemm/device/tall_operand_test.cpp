// How tall operands are reached and what blocks may use, against numbers worked out by hand.
#include "tallskinny/gemm/device/tall_operand.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/support/test.hpp"

using cuda::layout_of;
using cuda::TallMode;

TEST_CASE("rows that follow one another are copied as they lie, wherever they begin") {
  const auto even = layout_of(DType::float64, 5, {5, 1, 0}), odd = layout_of(DType::float64, 5, {5, 1, 8});
  CHECK(even.mode == TallMode::flat);
  CHECK(even.pitch == 5);
  CHECK(even.unit == 16);
  CHECK_FALSE(even.shift);
  CHECK(odd.mode == TallMode::flat);
  CHECK(odd.unit == 8);
  CHECK(odd.shift);
  CHECK(layout_of(DType::float64, 1, {1, 77, 0}).mode == TallMode::flat);
}

TEST_CASE("gaps of less than 32 bytes, or an eighth of a row, are read along") {
  CHECK(layout_of(DType::float32, 8, {15, 1, 0}).mode == TallMode::flat);
  const auto wide = layout_of(DType::float32, 8, {16, 1, 0});
  CHECK(wide.mode == TallMode::by_rows);
  CHECK(wide.unit == 16);
  CHECK(layout_of(DType::float32, 64, {72, 1, 0}).mode == TallMode::flat);
  CHECK(layout_of(DType::float32, 64, {73, 1, 0}).mode == TallMode::by_rows);
}

TEST_CASE("columns are fetched by the unit that divides their distance") {
  const auto s = layout_of(DType::complex64, 3, {1, 1001, 0});
  CHECK(s.mode == TallMode::by_columns);
  CHECK(s.width == 6);
  CHECK(s.unit == 8);
  CHECK(layout_of(DType::complex64, 3, {1, 1000, 0}).unit == 16);
}

TEST_CASE("four schedulers have 16 Ki registers each, in eights") {
  CHECK(cuda::register_cap(8) == 255);
  CHECK(cuda::register_cap(9) == 168);
  CHECK(cuda::register_cap(12) == 168);
  CHECK(cuda::register_cap(16) == 128);
  CHECK(cuda::registers_left(12, 4, 40) == 152);
}

TEST_CASE("at level gpu_to_gpu a part has blocks by its bytes alone") {
  cuda::GpuProblem problem{
      .problem = {Operation::tsmttsm, DType::float64, 1000, 8, 8}, .determinism = Determinism::gpu_to_gpu, .parts = 24};
  const auto blocks = [&] {
    const auto here = cuda::part_limits_of(cuda::typical_device("sm_80"), problem, 1);
    CHECK(here == cuda::part_limits_of(cuda::typical_device("sm_90a"), problem, 1));
    return here.multiprocessors;
  };
  CHECK(blocks() == 11);
  problem.problem.n = 1 << 21;  // 268 MB: 12 MB a block
  CHECK(blocks() == 22);
  problem.problem.n = 1 << 24;
  CHECK(blocks() == 16 * 11);
}
