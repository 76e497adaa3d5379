// Properties of every operation on a GPU: which kernels it starts, that it can be captured, that its bits repeat. The
// cases tagged [sanitize] are small enough for compute-sanitizer.
#include "tallskinny/tests/support/every_operation.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"

#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/tests/support/engine.hpp"

namespace {

/// Operands in the memory of ctx.stream, with all kernels compiled.
template <class T, Layout L>
EveryOperation<T, L> prepared(const Context& ctx, index_t n, index_t p, index_t q, index_t padding) {
  const Context rehearsal = rehearsing_context(ctx.stream.device());
  EveryOperation<T, L>(rehearsal, n, p, q, padding).run();
  cuda::prepare(ctx, rehearsal.stream.rehearsal()->kernels);
  return {ctx, n, p, q, padding};
}

/// The bits of a second run, after one that makes room in the workspace, and of a third one in a graph or without.
template <class T, Layout L = Layout::row_major>
void check_repeats(index_t n, index_t p, index_t q, index_t padding, bool in_graph = false) {
  CAPTURE(n, p, q, padding);
  const Context ctx = device_context();
  auto operations = prepared<T, L>(ctx, n, p, q, padding);
  operations.run();
  operations.refill();
  operations.run();
  const auto bits = operations.bits();
  operations.refill();
  if (in_graph)
    cuda::Graph(ctx.stream, [&] { operations.run(); }).launch(ctx.stream);
  else
    operations.run();
  CHECK(operations.bits() == bits);
}

/// The families of the kernels that `work` starts on a GPU of this architecture without libraries.
template <class Work>
std::vector<std::string> kernels_of(const std::string& arch, Work&& work) {
  cuda::DeviceInfo device = cuda::typical_device(arch);
  device.libraries = false;
  const Context ctx = rehearsing_context(device);
  work(ctx);
  std::vector<std::string> names;
  for (const cuda::KernelPlan& kernel : ctx.stream.rehearsal()->kernels) names.emplace_back(kernel.family);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the kernels that an operation starts are those of its family, and no more", "[rehearsal][cuda]") {
  for (const std::string arch : {"sm_80", "sm_90a", "sm_100"}) {
    CAPTURE(arch);
    const index_t n = 1 << 20;
    const auto with = [&](index_t p, index_t q, auto use) {
      return kernels_of(arch, [&](const Context& ctx) {
        DeviceMatrix<double> v(ctx.stream, n, p), w(ctx.stream, n, q), s(ctx.stream, p, q), s_next(ctx.stream, p, q),
            g(ctx.stream, q, q);
        use(ctx, v.view(), w.view(), s.view(), s_next.view(), g.view());
      });
    };
    const auto products = [](const Context& ctx, auto v, auto w, auto s, auto, auto g) {
      tsmttsm(ctx, Op::adjoint, 1.0, v, w, 0.0, s);
      gram(ctx, Op::adjoint, 1.0, w, 0.0, g);
      tsmm(ctx, Op::none, 1.0, v, s, 1.0, w);
      tsmm_in_place(ctx, Op::none, 1.0, w, g);
      trsm(ctx, w, g);
    };
    const std::string inner = arch == "sm_80" ? "tsmttsm" : "tsmttsm_cluster";
    CHECK(with(24, 8, products) == Names{inner, inner, "tsmm", "tsmm", "trsm"});
    const auto steps = [](const Context& ctx, auto v, auto w, auto s, auto s_next, auto g) {
      inner_and_gram(ctx, v, w, s, g);
      project_out(ctx, v, s, w, s_next, g);
      project_out(ctx, v, s, w, decltype(s){}, decltype(s){});
    };
    CHECK(with(24, 8, steps) == Names(3, "project"));
    CHECK(with(1, 1, steps) == Names(3, "project"));
    CHECK(with(64, 16, steps) == Names(3, "project"));
    const auto wide = [](const Context& ctx, auto v, auto w, auto s, auto, auto) {
      tsmm(ctx, Op::none, 1.0, v, s, 0.0, w);
    };
    const Names names = with(512, 8, wide);
    CHECK((arch == "sm_80" ? names.front() == "tsmm" : names == Names{"wide_factor", "tsmm_wide"}));
    const auto nothing = [](const Context& ctx, auto v, auto w, auto s, auto, auto) {
      tsmttsm(ctx, Op::adjoint, 0.0, v, w, 0.5, s);
      tsmttsm(ctx, Op::adjoint, 0.0, v, w, 1.0, s);
    };
    CHECK(with(3, 2, nothing) == Names{"scale"});
  }
}

TEMPLATE_TEST_CASE("every operation has kernels for every width, layout and architecture", "[rehearsal][cuda]",
                   TS_ALL_TYPES) {
  for (const std::string arch : {"sm_80", "sm_90a", "sm_100"})
    for (const index_t width : {1, 31, 49, 64, 65, 90, 97, 100, 128, 129, 200})
      for (const Determinism level : {Determinism::run_to_run, Determinism::gpu_to_gpu}) {
        CAPTURE(arch, width, level == Determinism::gpu_to_gpu);
        Context ctx = rehearsing_context(cuda::typical_device(arch));
        ctx.determinism = level;
        const index_t other = width % 2 == 0 ? width : 5;
        CHECK_NOTHROW(EveryOperation<TestType>(ctx, 10, width, other, 0).run());
        CHECK_NOTHROW(EveryOperation<TestType>(ctx, 10, width, other, 1).run());
        CHECK_NOTHROW(EveryOperation<TestType, Layout::col_major>(ctx, 10, width, other, 1).run());
      }
}

TEMPLATE_TEST_CASE("inner products of operands in two layouts have kernels, too", "[rehearsal][cuda]", TS_ALL_TYPES) {
  using T = TestType;
  using R = result_t<T>;
  constexpr Layout row_major = Layout::row_major, col_major = Layout::col_major;
  for (const std::string arch : {"sm_80", "sm_90a", "sm_100"})
    for (const index_t p : {1, 33, 63, 64, 65, 128, 129, 200})
      for (const index_t q : {1, 33, 63, 64, 65, 128, 129})
        for (const index_t n : {33, 100000}) {
          CAPTURE(arch, n, p, q);
          const Context ctx = rehearsing_context(cuda::typical_device(arch));
          const DeviceMatrix<T, row_major> a_rows(ctx.stream, n, p), b_rows(ctx.stream, n, q);
          const DeviceMatrix<T, col_major> a_columns(ctx.stream, n, p), b_columns(ctx.stream, n, q);
          DeviceMatrix<R> c(ctx.stream, p, q);
          const auto products = [&](const auto& a, const auto& b) {
            CHECK_NOTHROW(tsmttsm(ctx, Op::adjoint, R{1}, a.view(), b.view(), R{0}, c.view()));
            CHECK_NOTHROW(tsm2r(ctx, Op::transpose, R{1}, a.view(), b.view(), R{0}, c.view()));
          };
          products(a_rows, b_columns);
          products(a_columns, b_rows);
        }
}

TEST_CASE("a sparse matrix with long rows goes by parts of equal work", "[rehearsal][cuda]") {
  for (const index_t length : {8, 9000}) {
    CAPTURE(length);
    const auto a = csr_by_rows<float>(3, 10000, [&](index_t i, auto add) {
      for (index_t j = 0; i == 1 && j < length; ++j) add(j, 1.0f);
    });
    const auto names = kernels_of("sm_90a", [&](const Context& ctx) {
      const DeviceCsrMatrix<float> there(ctx.stream, a.view());
      DeviceMatrix<float> x(ctx.stream, 10000, 4), y(ctx.stream, 3, 4);
      spmm(ctx, Op::none, 1.0f, there.view(), x.view(), 0.0f, y.view());
    });
    CHECK(names == (length == 8 ? Names{"spmm_rows"} : Names{"spmm_parts", "spmm_splits"}));
  }
}

TEST_CASE("spmm with A^T on a GPU asks for a matrix that keeps it", "[rehearsal][cuda]") {
  const Context ctx = rehearsing_context(cuda::typical_device("sm_90a"));
  const CsrMatrix<double> a{.rows = 2, .cols = 2, .pointers = {0, 1, 1}, .indices = {1}, .values = {3}};
  DeviceCsrMatrix<double> there(ctx.stream, a.view());
  DeviceMatrix<double> x(ctx.stream, 2, 1), y(ctx.stream, 2, 1);
  const auto multiply = [&] { spmm(ctx, Op::adjoint, 1.0, there.view(), x.view(), 0.0, y.view()); };
  expect_misuse(multiply, {"spmm", "keep_transposed"});
  there.keep_transposed(ctx.stream, a.view());
  CHECK_NOTHROW(multiply());
}

TEMPLATE_TEST_CASE("every operation is captured into a graph: nothing in it waits or allocates", "[gpu]",
                   TS_ALL_TYPES) {
  check_repeats<TestType>(5000, 8, 3, 0, true);
  check_repeats<TestType>(5000, 17, 17, 1, true);
  check_repeats<TestType>(5000, 200, 130, 0, true);  // wider than one kernel takes
  check_repeats<TestType, Layout::col_major>(5000, 5, 2, 3, true);
}

TEMPLATE_TEST_CASE("every operation gives the same bits again", "[sanitize][gpu]", TS_ALL_TYPES) {
  check_repeats<TestType>(300, 1, 1, 0);
  check_repeats<TestType>(301, 7, 3, 0);
  check_repeats<TestType>(5003, 8, 8, 0);
  check_repeats<TestType>(6000, 32, 17, 0);
  check_repeats<TestType>(301, 18, 18, 1);
  check_repeats<TestType>(300, 33, 5, 2);
  check_repeats<TestType, Layout::col_major>(301, 9, 4, 1);
}
