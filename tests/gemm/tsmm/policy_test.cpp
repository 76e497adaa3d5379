// Shared memory of tall times small kernels, by hand.
#include "tallskinny/gemm/tsmm/policy.hpp"
#include "tallskinny/gemm/tsmm/wide_policy.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using cuda::Arithmetic;
using cuda::TallMode;
using cuda::TsmmPolicy;
using cuda::TsmmWorker;

TEST_CASE("results take the place of rows that are as long") {
  TsmmPolicy k;
  k.p = k.q = k.pitch_x = 8, k.vector_x = 2, k.tiles = 4, k.teams = 2, k.groups = 4, k.slots = 12;
  CHECK(k.threads() == 256);
  CHECK(k.rows() == 128);
  CHECK(k.x().sub_bytes() == 32 * 64);  // two halves of 64 rows of 64 bytes
  CHECK(k.x().sub_pitch() == 2048 + 16);
  CHECK(k.x_bytes() == 8320);  // 3 (2048 + 16) + 2048, in lines of 128
  CHECK(k.y_team_bytes() == 64 * 64);
  CHECK(k.y_offset() == 0);
  CHECK(k.y_pitch() == 2 * 2064);
  CHECK(k.slot_bytes() == 8320);
  CHECK(k.factor_bytes() == 1024);  // one block of K, one of columns
  CHECK(k.factor_offset() == 384);  // four rings of three slots of 24 bytes
  CHECK(k.slots_offset() == 1408);
  CHECK(k.shared_bytes() == 1408 + 12 * 8320);
}

TEST_CASE("results that are longer than their rows push these apart") {
  TsmmPolicy k;
  k.type = DType::bfloat16, k.worker = TsmmWorker::lane;
  k.p = k.q = k.pitch_x = 8, k.vector_x = 4, k.slots = 32;
  CHECK(k.x().sub_bytes() == 32 * 16);
  CHECK(k.y_team_bytes() == 32 * 32);
  CHECK(k.x().pad == 512);
  CHECK(k.x_bytes() == 512);
  CHECK(k.slot_bytes() == 1024);
  k.teams = 2;
  CHECK(k.x_bytes() == 1024 + 512);
  CHECK(k.slot_bytes() == 2048);
}

TEST_CASE("results that are added to lie behind the rows, and S of lanes lies by rows") {
  TsmmPolicy k;
  k.type = DType::float32, k.worker = TsmmWorker::lane, k.accumulate = true;
  k.p = k.pitch_x = 3, k.q = 5, k.tiles = 2, k.slots = 16;
  CHECK(k.rows() == 64);
  CHECK(k.x().pad == 0);
  CHECK(k.y_offset() == 64 * 12);
  CHECK(k.y_pitch() == 64 * 20);
  CHECK(k.slot_bytes() == 768 + 1280);
  CHECK(k.factor_pitch() == 8);
  CHECK(k.factor_bytes() == 128);   // 3 rows of 32 bytes
  CHECK(k.factor_offset() == 384);  // eight rings of two slots
  CHECK(k.shared_bytes() == 384 + 128 + 16 * 2048);
}

TEST_CASE("columns start in banks of their own") {
  TsmmPolicy k;
  k.type = DType::complex64, k.mode_x = TallMode::by_columns, k.columns_y = true;
  k.p = 2, k.q = 3, k.vector_x = 2;
  CHECK(k.x().column_bytes() == 128);
  CHECK(k.x().column_pitch() == 160);
  CHECK(k.x_bytes() == 384);
  CHECK(k.y_row_pitch() == 1);
  CHECK(k.y_column_pitch() == 18);
  CHECK(k.y_team_bytes() == 3 * 18 * 8);
  CHECK(k.slot_bytes() == 512);
}

TEST_CASE("warpgroups have 64 rows, and what may begin off a line has 144 bytes more") {
  TsmmPolicy k;
  k.type = DType::float32, k.worker = TsmmWorker::warpgroup, k.arithmetic = Arithmetic::split;
  k.p = k.q = k.pitch_x = 64, k.shift_x = true, k.vector_x = 4, k.teams = 4, k.groups = 3;
  CHECK(k.rows() == 64);
  CHECK(k.x().sub_pitch() == 2304 + 64);  // 8 rows of 256 bytes, and 144
  CHECK(k.x_bytes() == 18944);            // 8 of them, but for the last 64
  CHECK(k.factor_bytes() == 4 * 8 * 1024);
  CHECK(k.registers_needed() == 8 * 8 + 116);
}

TEST_CASE("a stage of a wide product holds boxes of X and what they meet of S") {
  cuda::WidePolicy k{.q = 16, .tiles = 2, .teams = 4, .boxes = 2, .stages = 3};
  CHECK(k.rows() == 128);
  CHECK(k.stage_scalars() == 32);
  CHECK(k.stage_blocks() == 2);
  CHECK(k.x_bytes() == 2 * 128 * 128);
  CHECK(k.s_bytes() == 2 * 2 * 1024);
  CHECK(k.shared_bytes() == 1024 + 3 * (32768 + 4096));
  k.type = DType::float16;
  CHECK(k.stage_scalars() == 128);
  CHECK(k.s_bytes() == 8 * 2 * 1024);
}
