#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/project/plan.hpp"
#include "tallskinny/gemm/project/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

#include "tallskinny/tests/support/engine.hpp"

using cuda::ProjectPolicy;

namespace {

template <class T>
Expected<T> inner_product(const Operand<T>& a, const Operand<T>& b) {
  return exact_product(Op::adjoint, a, a.cols(), Op::none, b, b.cols());
}

// One function for all test cases: every combination of layouts is compiled once a type.
template <class T>
void run_project_out(const Context& ctx, Operand<T>& v, Operand<T>& s, Operand<T>& w, Operand<T>& s_next,
                     Operand<T>& g) {
  with_views(
      ctx, [&](auto vv, auto vs, auto vw, auto vn, auto vg) { project_out(ctx, vv, vs, vw, vn, vg); }, v, s, w, s_next,
      g);
}

template <class T>
void check_hermitian(const Operand<T>& g) {
  REQUIRE(everywhere(g.rows(), g.cols(),
                     [&](index_t i, index_t j) { return g.wide_at(i, j) == wide_of_op(Op::adjoint, g, i, j); }));
}
/// The results of one call, compared as one.
template <class T>
struct Results {
  Operand<T> w, s, g;
  [[nodiscard]] std::vector<unsigned char> bits() const {
    auto all = w.bits();
    for (const Operand<T>* more : {&s, &g})
      for (const unsigned char byte : more->bits()) all.push_back(byte);
    return all;
  }
};

template <class T>
void check_inner_and_gram(index_t n, index_t m, index_t b, std::size_t variant) {
  CAPTURE(n, m, b, variant);
  Values values(variant);
  auto v = Operand<T>::random(n, m, form_number(variant), values);
  const auto w = Operand<T>::random(n, b, form_number(variant / 2), values);
  const Results<T> empty{w, Operand<T>(m, b, form_number(variant / 3)), Operand<T>(b, b, form_number(variant / 5))};
  const auto s = inner_product(v, w), g = inner_product(w, w);
  in_every_way(
      empty,
      [&](const Context& ctx, Results<T>& out) {
        with_views(
            ctx, [&](auto vv, auto vw, auto vs, auto vg) { inner_and_gram(ctx, vv, vw, vs, vg); }, v, out.w, out.s,
            out.g);
      },
      [&](const Results<T>& out) {
        check_product(out.s, T{1}, s, T{}, out.s);
        check_product(out.g, T{1}, g, T{}, out.g);
        check_hermitian(out.g);
        REQUIRE(out.w.bits() == w.bits());
      });
}

template <class T>
void check_project_out(index_t n, index_t m, index_t b, std::size_t variant) {
  CAPTURE(n, m, b, variant);
  Values values(variant);
  auto v = Operand<T>::random(n, m, form_number(variant), values);
  auto s = Operand<T>::random(m, b, form_number(variant / 4), values);
  const auto w = Operand<T>::random(n, b, form_number(variant / 2), values);
  const bool want_s = variant % 4 != 1, want_g = variant % 4 < 2;
  const Results<T> before{w, Operand<T>(want_s ? m : 0, want_s ? b : 0, form_number(variant / 3)),
                          Operand<T>(want_g ? b : 0, want_g ? b : 0, form_number(variant / 5))};
  const Expected<T> update = exact_product(Op::none, v, n, Op::none, s, b);
  in_every_way(
      before, [&](const Context& ctx, Results<T>& out) { run_project_out(ctx, v, s, out.w, out.s, out.g); },
      [&](const Results<T>& out) {
        check_product(out.w, T{-1}, update, T{1}, w);  // W - V S
        if (want_s) check_product(out.s, T{1}, inner_product(v, out.w), T{}, out.s);
        if (want_g) {
          check_product(out.g, T{1}, inner_product(out.w, out.w), T{}, out.g);
          check_hermitian(out.g);
        }
      });
}

}  // namespace

TEMPLATE_TEST_CASE("inner_and_gram and project_out of small integers are exact", "[short]", TS_RESULT_TYPES) {
  compiled_ahead([] {
    Values values(17);
    for (std::size_t variant = 0; variant < 24; ++variant) {
      const index_t n = values.below(5), m = values.below(4), b = 1 + values.below(3);
      auto v = Operand<TestType>::integers(n, m, form_number(variant), values);
      auto s = Operand<TestType>::integers(m, b, form_number(variant / 2), values);
      const auto w = Operand<TestType>::integers(n, b, form_number(variant / 3), values);
      auto updated = w;
      updated.fill([&](index_t i, index_t j) {
        TestType sum = w.at(i, j);
        for (index_t k = 0; k < m; ++k) sum -= v.at(i, k) * s.at(k, j);
        return sum;
      });
      const auto s_next = inner_product(v, updated), g = inner_product(updated, updated);
      in_every_way(
          Results<TestType>{w, Operand<TestType>(m, b), Operand<TestType>(b, b)},
          [&](const Context& ctx, Results<TestType>& out) { run_project_out(ctx, v, s, out.w, out.s, out.g); },
          [&](const Results<TestType>& out) {
            REQUIRE(everywhere(n, b, [&](index_t i, index_t j) { return out.w.at(i, j) == updated.at(i, j); }));
            check_exact(out.s, TestType{1}, s_next, TestType{}, w);
            check_exact(out.g, TestType{1}, g, TestType{}, w);
          });
    }
  });
}

TEMPLATE_TEST_CASE("inner_and_gram and project_out at every width and layout", "[short]", TS_RESULT_TYPES) {
  at_all_widths({0, 1, 33}, [](index_t n, Widths w, std::size_t variant) {
    check_inner_and_gram<TestType>(n, w.p, w.q, variant);
    check_project_out<TestType>(n, w.p, w.q, variant);
  });
  compiled_ahead([] {
    check_inner_and_gram<TestType>(40, 0, 3, 0);  // an empty basis
    check_project_out<TestType>(40, 0, 3, 0);
  });
}

TEMPLATE_TEST_CASE("inner_and_gram and project_out of long operands", "[long]", TS_RESULT_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const Widths w : {Widths{1, 1}, {8, 2}, {24, 8}, {33, 3}, {64, 16}, {17, 17}, {300, 16}}) {
      check_inner_and_gram<TestType>(3001, w.p, w.q, variant);
      check_project_out<TestType>(3001, w.p, w.q, 4 * variant++);
    }
    check_project_out<TestType>(100003, 5, 2, 0);
  });
}

TEST_CASE("inner_and_gram and project_out refuse misuse by naming the argument", "[short]") {
  std::vector<double> memory(300, 1.0);
  const Context ctx;
  const HostView<double> v(memory.data(), 10, 3), w(memory.data() + 40, 10, 2), s(memory.data() + 100, 3, 2),
      s_next(memory.data() + 110, 3, 2), g(memory.data() + 120, 2, 2), none;
  expect_misuse([&] { inner_and_gram(ctx, v.rows(0, 9), w, s, g); }, {"inner_and_gram", "V", "9 x 3"});
  expect_misuse([&] { inner_and_gram(ctx, v, w, g, g); }, {"S", "2 x 2", "3 x 2"});
  expect_misuse([&] { inner_and_gram(ctx, v, w, s, s); }, {"G", "3 x 2", "2 x 2"});
  expect_misuse([&] { inner_and_gram(ctx, v, w, s, HostView<double>(memory.data() + 101, 2, 2)); }, {"G overlaps S"});
  expect_misuse([&] { project_out(ctx, v.rows(0, 9), s, w, s_next, g); }, {"project_out", "V", "9 x 3"});
  expect_misuse([&] { project_out(ctx, v, g, w, s_next, g); }, {"S", "2 x 2", "3 x 2"});
  expect_misuse([&] { project_out(ctx, v, s, w, g, g); }, {"S_next", "2 x 2", "3 x 2", "0 x 0"});
  expect_misuse([&] { project_out(ctx, v, s, w, none, s); }, {"G", "3 x 2", "2 x 2"});
  expect_misuse([&] { project_out(ctx, v, s, HostView<double>(memory.data() + 5, 10, 2), none, none); },
                {"W overlaps V"});
  expect_misuse([&] { project_out(ctx, v, s, w, s, none); }, {"S_next overlaps S"});
}

// Panels and candidates of projections, made without a GPU.

namespace {

ProjectPolicy steps(DType type, int p, int q) {
  ProjectPolicy policy;
  policy.type = type, policy.p = policy.pitch_v = p, policy.q = policy.pitch_w = q;
  return policy;
}

}  // namespace

TEST_CASE("V and W are cut into equal panels, W only where V is narrow enough", "[short]") {
  const cuda::BlockLimits limits = cuda::limits_of(cuda::typical_device("sm_90a"), Determinism::run_to_run);
  const auto whole = cuda::project_panels(DType::float64, 32, 8, limits);
  CHECK(whole.v == 32);
  CHECK(whole.w == 8);
  const auto wide = cuda::project_panels(DType::float64, 10000, 8, limits);
  CHECK(wide.w == 8);
  CHECK(wide.v <= 4096);
  CHECK(wide.v * ((10000 + wide.v - 1) / wide.v) - 10000 < (10000 + wide.v - 1) / wide.v);
}

TEST_CASE("16-bit types and what asks for nothing have no kernel, others have those that fit, best first", "[short]") {
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

TEST_CASE("all steps by float64: barriers, S as a fragment, and a ring for each warp", "[short]") {
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

TEST_CASE("a Gram matrix of complex columns has no V in its slots", "[short]") {
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

TEST_CASE("wide products take more room than the rings, whose place they take", "[short]") {
  ProjectPolicy policy = steps(DType::float32, 64, 64);
  policy.inner = true, policy.shift_v = true;
  policy.groups = 2;
  CHECK(policy.w_offset() == 4 * (1280 + 32));  // 1024 bytes and 144 for the shift
  CHECK(policy.slot_bytes() == 5248 + 4 * (1024 + 32));
  CHECK(policy.product_rows() == 64);
  CHECK(policy.product_pitch() == 66);
  CHECK(policy.shared_bytes() == 128 + 2 * 64 * 66 * 8);
}

TEST_CASE("a plan carries the policy of project as text", "[short]") {
  ProjectPolicy policy = steps(DType::complex128, 7, 9);
  policy.update = policy.shift_w = true, policy.mode_v = cuda::TallMode::by_rows;
  CHECK(cuda::policy_of<ProjectPolicy>(cuda::plan_of("project", policy)) == policy);
}
