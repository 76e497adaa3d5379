#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmm/policy.hpp"
#include "tallskinny/gemm/tsmm/wide_policy.hpp"

#include "tallskinny/tests/support/engine.hpp"

using cuda::Arithmetic;
using cuda::TallMode;
using cuda::TsmmPolicy;
using cuda::TsmmWorker;

namespace {

// One function for all test cases: every combination of layouts is compiled once a type.
template <class T>
void run_tsmm(const Context& ctx, Op op, result_t<T> alpha, Operand<T>& x, Operand<result_t<T>>& s, result_t<T> beta,
              Operand<result_t<T>>& y) {
  with_views(
      ctx, [&](auto vx, auto vs, auto vy) { tsmm(ctx, op, alpha, vx, vs, beta, vy); }, x, s, y);
}

template <class T>
void check_tsmm(index_t n, Widths w, std::size_t variant, bool exact = false) {
  using R = result_t<T>;
  CAPTURE(n, w.p, w.q, variant);
  Variant<T> v{variant, exact};
  auto x = v.operand(n, w.p, form_number(variant));
  auto s = v.template operand_of_op<R>(w.p, w.q, form_number(variant / 2));
  check_in_every_way(
      v.alpha, exact_product(Op::none, x, n, v.op, s, w.q), v.beta, v.output(n, w.q, form_number(variant / 5)),
      [&](const Context& ctx, Operand<R>& out) { run_tsmm(ctx, v.op, v.alpha, x, s, v.beta, out); }, exact);
}

template <class R>
void check_in_place(index_t n, index_t p, index_t q, std::size_t variant) {
  CAPTURE(n, p, q, variant);
  Variant<R> v{variant};
  const auto x = v.operand(n, p, form_number(variant));
  auto s = v.operand_of_op(p, q, form_number(variant / 2));
  const auto product = exact_product(Op::none, x, n, v.op, s, q);
  in_every_way(
      x,
      [&](const Context& ctx, Operand<R>& out) {
        with_views(
            ctx, [&](auto vx, auto vs) { tsmm_in_place(ctx, v.op, v.alpha, vx, vs); }, out, s);
      },
      [&](const Operand<R>& out) {
        check_product(out, v.alpha, product, R{}, x);
        REQUIRE(everywhere(n, p - q, [&](index_t i, index_t j) { return out.at(i, q + j) == x.at(i, q + j); }));
      });
}

}  // namespace

TEMPLATE_TEST_CASE("tsmm of small integers is exact", "[short]", TS_ALL_TYPES) {
  at_small_sizes([](index_t n, index_t p, index_t q, std::size_t variant) {
    check_tsmm<TestType>(n, {std::max<index_t>(p, 1), q}, variant, true);
  });
}

TEMPLATE_TEST_CASE("tsmm at every width, layout, leading dimension, alpha and beta", "[short]", TS_ALL_TYPES) {
  at_all_widths({0, 1, 2, 31, 33},
                [](index_t n, Widths w, std::size_t variant) { check_tsmm<TestType>(n, w, variant); });
}

TEMPLATE_TEST_CASE("tsmm in place at every width, layout and leading dimension", "[short]", TS_RESULT_TYPES) {
  at_all_widths({0, 1, 33}, [](index_t n, Widths w, std::size_t variant) {
    check_in_place<TestType>(n, std::max(w.p, w.q), std::min(w.p, w.q), variant);
  });
}

TEMPLATE_TEST_CASE("tsmm of long operands", "[long]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    std::size_t variant = 0;
    for (const Widths w : widths_that_bite()) {
      check_tsmm<TestType>(1000, w, variant);
      check_in_place<R>(1000, std::max(w.p, w.q), std::min(w.p, w.q), variant++);
    }
    for (const Widths w : {Widths{1, 1}, {3, 3}, {8, 8}, {4, 17}}) {
      check_tsmm<TestType>(100003, w, 0);
      check_tsmm<TestType>(100003, w, variant++);
    }
    check_in_place<R>(100003, 5, 3, 0);
  });
}

TEMPLATE_TEST_CASE("tsmm of more columns than fit beside their factor", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const index_t p : {129, 200, 512})
      for (const index_t q : {1, 3, 17, 64}) {
        check_tsmm<TestType>(0, {p, q}, variant);
        check_tsmm<TestType>(35, {p, q}, variant);       // in turns at every form
        check_tsmm<TestType>(290, {p, q}, 6 * variant);  // as the copy engine takes X
        ++variant;
      }
    check_tsmm<TestType>(70, {136, 130}, 0);
    check_tsmm<TestType>(13, {400, 390}, 1);
    check_in_place<result_t<TestType>>(70, 200, 130, 0);
  });
}

TEMPLATE_TEST_CASE("NaN and Inf stay in their row, and Inf stays Inf", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    for (const index_t w : {1, 2, 3, 5, 8, 17, 32, 49, 200})
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        CAPTURE(w, bad);
        Values values(3);
        auto x = Operand<TestType>::random(40, w, {}, values);
        auto s = Operand<R>::random(w, w, {}, values);
        x.at(21, w / 2) = element<TestType>(bad);
        s.at(w - 1, 0) = element<R>(bad);  // in every row's first result
        if constexpr (std::is_same_v<R, float>)
          if (std::isnan(bad)) s.at(w - 1, 0) = std::bit_cast<float>(0x7fffffffu);  // as GPUs make it
        in_every_way(
            Operand<R>(40, w),
            [&](const Context& ctx, Operand<R>& out) { run_tsmm(ctx, Op::none, R{1}, x, s, R{}, out); },
            [&](const Operand<R>& out) {
              REQUIRE(everywhere(40, w, [&](index_t i, index_t j) {
                const auto size = std::abs(out.wide_at(i, j));
                if (i != 21 && j > 0) return std::isfinite(size);
                // Infinities of both signs, and all products of complex ones, may be NaN.
                return is_complex<R> || (i == 21 && j == 0) || std::isnan(bad) ? !std::isfinite(size)
                                                                               : std::isinf(size);
              }));
            });
      }
  });
}

TEST_CASE("neighbouring column blocks of one basis do not count as overlapping", "[short]") {
  Values values(1);
  auto basis = Operand<double>::random(50, 9, {}, values);
  auto s = Operand<double>::random(4, 5, {}, values);
  const auto before = basis;
  with_views([](auto v, auto vs) { tsmm(Context{}, Op::none, 1.0, v.cols(0, 4), vs, 0.0, v.cols(4, 5)); }, basis, s);
  for (index_t i = 0; i < 50; ++i) {
    double sum = 0;
    for (index_t k = 0; k < 4; ++k) sum += before.at(i, k) * s.at(k, 2);
    CHECK(std::abs(basis.at(i, 6) - sum) <= product_bound<double>(4, 4));
    CHECK(basis.at(i, 3) == before.at(i, 3));
  }
}

TEST_CASE("tsmm refuses misuse by naming the argument", "[short]") {
  std::vector<double> memory(200, 1.0);
  const Context ctx;
  const HostView<double> x(memory.data(), 10, 3), s(memory.data() + 40, 3, 2), y(memory.data() + 100, 10, 2);
  expect_misuse([&] { tsmm(ctx, Op::transpose, 1.0, x, s, 0.0, y); }, {"tsmm", "op(S)", "2 x 3"});
  expect_misuse([&] { tsmm(ctx, Op::none, 1.0, x, s, 0.0, y.rows(0, 9)); }, {"Y", "9 x 2", "10 x 2"});
  expect_misuse([&] { tsmm(ctx, Op::none, 1.0, x, s, 0.0, HostView<double>(memory.data() + 20, 10, 2)); },
                {"Y overlaps X"});
  expect_misuse([&] { tsmm(ctx, Op::none, 1.0, x, s, 0.0, HostView<double>(memory.data() + 45, 10, 2)); },
                {"Y overlaps S"});
  expect_misuse([&] { tsmm_in_place(ctx, Op::none, 1.0, y, HostView<double>(memory.data(), 2, 3)); },
                {"tsmm_in_place", "op(S)", "columns"});
  expect_misuse([&] { tsmm_in_place(ctx, Op::none, 1.0, x, HostView<double>(memory.data() + 20, 3, 3)); },
                {"X overlaps S"});
}

// Shared memory of tall times small kernels, by hand.

TEST_CASE("results take the place of rows that are as long", "[short]") {
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

TEST_CASE("results that are longer than their rows push these apart", "[short]") {
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

TEST_CASE("results that are added to lie behind the rows, and S of lanes lies by rows", "[short]") {
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

TEST_CASE("columns start in banks of their own", "[short]") {
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

TEST_CASE("warpgroups have 64 rows, and what may begin off a line has 144 bytes more", "[short]") {
  TsmmPolicy k;
  k.type = DType::float32, k.worker = TsmmWorker::warpgroup, k.arithmetic = Arithmetic::split;
  k.p = k.q = k.pitch_x = 64, k.shift_x = true, k.vector_x = 4, k.teams = 4, k.groups = 3;
  CHECK(k.rows() == 64);
  CHECK(k.x().sub_pitch() == 2304 + 64);  // 8 rows of 256 bytes, and 144
  CHECK(k.x_bytes() == 18944);            // 8 of them, but for the last 64
  CHECK(k.factor_bytes() == 4 * 8 * 1024);
  CHECK(k.registers_needed() == 8 * 8 + 116);
}

TEST_CASE("a stage of a wide product holds boxes of X and what they meet of S", "[short]") {
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
