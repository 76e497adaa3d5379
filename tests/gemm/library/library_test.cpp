// Products that NVIDIA's libraries compute: when, and that they are what the engine's own kernels give.
#include "tallskinny/gemm/library/calls.hpp"
#include "tallskinny/gemm/library/plan.hpp"
#include "tallskinny/gemm/library/products.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/engine.hpp"

namespace {

cuda::GpuProblem problem_of(Operation operation, DType type, index_t n, index_t p, index_t q) {
  return cuda::GpuProblem{.problem = {operation, type, n, p, q}};
}

template <class Policy>
std::shared_ptr<const cuda::TunedTable> table_of(const cuda::GpuProblem& problem, const Policy& policy) {
  auto table = std::make_shared<cuda::TunedTable>();
  table->set(cuda::tuned_key(problem), {cuda::defines_of(cuda::plan_of("", policy)), 1.5});
  return table;
}

/// Small integers, so that every sum here is exact in every type and order.
template <class T>
DeviceMatrix<T> integers(const Context& ctx, index_t rows, index_t cols) {
  Values values(static_cast<std::uint64_t>(rows + cols));
  return copy_there(ctx, matrix_of<T>(rows, cols, [&](index_t, index_t) {
                      const std::uint64_t bits = values.bits();
                      return element<T>(static_cast<double>(bits % 5) - 2, static_cast<double>(bits / 8 % 5) - 2);
                    }));
}

/// `run(ctx)` by the engine's kernels and by the library; the results are the same.
template <class R, class Policy, class Run>
void compare(const cuda::GpuProblem& problem, const Policy& policy, index_t rows, index_t cols, Run&& run) {
  const Context ctx = device_context();
  const auto own = ctx.stream.device().tuned;
  DeviceMatrix<R> ours = integers<R>(ctx, rows, cols), theirs = integers<R>(ctx, rows, cols);
  ctx.stream.use_libraries(false);
  run(ctx, ours.view());
  ctx.stream.use_libraries(true);
  ctx.stream.choose_by(table_of(problem, policy));
  REQUIRE(cuda::library_choice(problem, ctx.stream.device()));
  run(ctx, theirs.view());
  CHECK(same(copy_here(ctx.stream, ours), copy_here(ctx.stream, theirs)));
  ctx.stream.choose_by(own);
}

}  // namespace

TEST_CASE("a library serves where a table says so, and a plan tells it") {
  cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem = problem_of(Operation::gram, DType::float64, 1000000, 300, 300);
  auto table =
      std::make_shared<cuda::TunedTable>("gram float64 65..2048 65..2048 * gain 1.5 slab_rows=32768 panel=128");
  device.tuned = table;
  const cuda::GpuPlan plan = cuda::make_plan(problem, device, {.family = {}, .libraries = true});
  CHECK(plan.kernel.family == "cublas");
  CHECK(cuda::policy_of<cuda::ProductPolicy>(plan.kernel) == cuda::ProductPolicy{32768, 128});
  CHECK(mentions(cuda::explain(plan, device), "tuned table: 1.500 times"));
  CHECK(mentions(cuda::explain(plan, device), "a call of the library"));

  SECTION("not for callers that cannot call it") {
    problem.problem.p = problem.problem.q = 96;
    table->set(cuda::tuned_key(problem), {{{"slab_rows", "32768"}, {"panel", "0"}}, 1.5});
    CHECK(cuda::make_plan(problem, device).kernel.family != "cublas");
    CHECK(cuda::make_plan(problem, device, {.family = {}, .libraries = true}).kernel.family == "cublas");
    CHECK(cuda::make_plan(problem, device, {.family = "tsmttsm", .libraries = true}).kernel.family == "tsmttsm");
  }
  SECTION("not beyond the range, nor where bits may not depend on it") {
    problem.problem.p = problem.problem.q = 64;
    CHECK(!cuda::library_choice(problem, device));
    problem.problem.p = problem.problem.q = 2049;
    CHECK(cuda::library_choice(problem, device)->gain == 0);  // the model's
    problem.problem.p = problem.problem.q = 300;
    problem.determinism = Determinism::gpu_to_gpu;
    CHECK(!cuda::library_choice(problem, device));
  }
  SECTION("not where the stream may not use libraries") {
    device.libraries = false;
    CHECK(!cuda::library_choice(problem, device));
  }
  SECTION("the key of one problem goes before a range") {
    table->set(cuda::tuned_key(problem), {{{"slab_rows", "8192"}, {"panel", "256"}}, 2});
    CHECK(cuda::library_choice(problem, device)->gain == 2);
    const cuda::TunedTable again(table->text());
    CHECK(again.size() == 2);
    CHECK(again.text() == table->text());
  }
}

TEST_CASE("without a table the models choose a library where it is predicted to be faster, and a plan tells it") {
  cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  device.tuned = nullptr;
  const auto plan = [&](Operation operation, DType type, index_t p, index_t q) {
    return cuda::make_plan(problem_of(operation, type, 10000000, p, q), device, {.family = {}, .libraries = true});
  };
  const cuda::GpuPlan gram = plan(Operation::gram, DType::float64, 300, 300);
  CHECK(gram.kernel.family == "cublas");
  CHECK(gram.seconds < gram.own_seconds);
  CHECK(mentions(cuda::explain(gram, device), "the engine's kernels are predicted to take"));
  CHECK(plan(Operation::tsmttsm, DType::float16, 200, 200).kernel.family == "cublas");
  for (const DType type : every_dtype)
    for (const index_t w : {1, 8, 31}) {
      CAPTURE(name_of(type), w);
      for (const Operation operation : {Operation::gram, Operation::tsmttsm, Operation::tsmm})
        CHECK(plan(operation, type, w, w).kernel.family != "cublas");
    }
  CHECK(plan(Operation::gram, DType::float32, 200, 200).kernel.grid == 0);  // several kernels
  device.libraries = false;
  CHECK(plan(Operation::gram, DType::float64, 300, 300).kernel.family == "tsmttsm");
}

TEST_CASE("sums over rows of narrow types are cut into slabs, and X S of 16 bits stays ours") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  for (const DType type : every_dtype) {
    for (const auto& candidate : cuda::cublas_candidates(problem_of(Operation::gram, type, 1 << 20, 256, 256), device))
      CHECK((cuda::policy_of<cuda::ProductPolicy>(candidate.kernel).slab_rows > 0 || type == DType::float64 ||
             type == DType::complex128));
    CHECK(cuda::cublas_candidates(problem_of(Operation::tsmm, type, 1 << 20, 256, 32), device).empty() ==
          (size_of(type) == 2));
  }
}

TEST_CASE("rank updates are for wide Gram matrices of rows, in float64 and complex128") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  const auto updates = [&](Operation operation, DType type, index_t p, Layout layout = Layout::row_major) {
    cuda::GpuProblem problem = problem_of(operation, type, 1 << 20, p, p);
    problem.first.layout = layout;
    const auto all = cuda::cublas_candidates(problem, device);
    return std::count_if(all.begin(), all.end(), [](const cuda::Candidate& candidate) {
      return cuda::policy_of<cuda::ProductPolicy>(candidate.kernel) == cuda::ProductPolicy{0, 0, true};
    });
  };
  for (const DType type : every_dtype)
    CHECK(updates(Operation::gram, type, 2048) == (type == DType::float64 || type == DType::complex128));
  CHECK(updates(Operation::gram, DType::float64, 511) == 0);
  CHECK(updates(Operation::gram, DType::float64, 2048, Layout::col_major) == 0);
  CHECK(updates(Operation::tsmttsm, DType::float64, 2048) == 0);
}

TEST_CASE("cuSPARSE takes blocks by rows, of matrices with short rows, neither shifted nor conjugated") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem = problem_of(Operation::spmm, DType::complex64, 1 << 20, 1 << 20, 32);
  problem.problem.nonzeros = 1 << 24, problem.sparse.parts = 1000;
  const auto takes = [&](auto change) {
    cuda::GpuProblem other = problem;
    change(other);
    return !cuda::cusparse_candidates(other, device).empty();
  };
  CHECK(takes([](auto&) {}));
  CHECK(takes([](auto& p) { p.op = Op::transpose; }));
  CHECK_FALSE(takes([](auto& p) { p.op = Op::adjoint; }));
  CHECK_FALSE(takes([](auto& p) { p.shifted = true; }));
  CHECK_FALSE(takes([](auto& p) { p.problem.accumulate = true; }));
  CHECK_FALSE(takes([](auto& p) { p.sparse.longest = 129; }));
  CHECK_FALSE(takes([](auto& p) { p.out.layout = Layout::col_major; }));
  CHECK_FALSE(takes([](auto& p) { p.problem.nonzeros = index_t{1} << 31; }));
  CHECK_FALSE(takes([](auto& p) { p.determinism = Determinism::gpu_to_gpu; }));
}

TEMPLATE_TEST_CASE("on a GPU sums over rows by cuBLAS are the engine's", "[gpu]", TS_ALL_TYPES) {
  using T = TestType;
  using R = result_t<T>;
  REQUIRE(cuda::cublas_found());
  const Context ctx = device_context();
  const index_t p = 200, q = 33;
  const index_t n = index_t{90000000} / (p * static_cast<index_t>(sizeof(T))) + 1;
  const DeviceMatrix<T> a = integers<T>(ctx, n, p), b = integers<T>(ctx, n, q);
  for (const Op op : {Op::adjoint, Op::transpose})
    for (const cuda::ProductPolicy policy : {cuda::ProductPolicy{8192, 0}, cuda::ProductPolicy{32768, 128}}) {
      if (policy.slab_rows >= n) continue;
      CAPTURE(policy.slab_rows, policy.panel);
      cuda::GpuProblem gram = problem_of(Operation::gram, dtype_of<T>, n, p, p);
      gram.op = op;
      compare<R>(gram, policy, p, p,
                 [&](const Context& on, DeviceView<R> c) { ts::gram(on, op, R{2}, a.view(), R{}, c); });
      if (policy.panel > 0) continue;
      cuda::GpuProblem inner = problem_of(Operation::tsmttsm, dtype_of<T>, n, p, q);
      inner.op = op;
      compare<R>(inner, policy, p, q,
                 [&](const Context& on, DeviceView<R> c) { ts::tsmttsm(on, op, R{2}, a.view(), b.view(), R{3}, c); });
    }
}

TEMPLATE_TEST_CASE("on a GPU X S and D X by cuBLAS are the engine's", "[gpu]", TS_ALL_TYPES) {
  using T = TestType;
  using R = result_t<T>;
  REQUIRE(cuda::cublas_found());
  const Context ctx = device_context();
  if constexpr (std::is_same_v<T, R>) {
    const index_t p = 200, q = 33, n = index_t{90000000} / (p * static_cast<index_t>(sizeof(T))) + 1;
    const DeviceMatrix<T> x = integers<T>(ctx, n, p), s = integers<T>(ctx, p, q);
    for (const R beta : {R{}, R{3}}) {
      cuda::GpuProblem problem = problem_of(Operation::tsmm, dtype_of<T>, n, p, q);
      problem.problem.accumulate = beta != R{};
      compare<R>(problem, cuda::ProductPolicy{}, n, q, [&](const Context& on, DeviceView<R> y) {
        ts::tsmm(on, Op::none, R{2}, x.view(), s.view(), beta, y);
      });
    }
  }
  const index_t order = 7001, q = 5;
  const DeviceMatrix<T> d = integers<T>(ctx, order, order), x = integers<T>(ctx, order, q);
  for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
    cuda::GpuProblem problem = problem_of(Operation::tsm2r, dtype_of<T>, order, order, q);
    problem.op = op;
    if (op != Op::none) problem.first.layout = Layout::col_major;
    compare<R>(problem, cuda::ProductPolicy{}, order, q,
               [&](const Context& on, DeviceView<R> y) { ts::tsm2r(on, op, R{2}, d.view(), x.view(), R{3}, y); });
  }
}

TEMPLATE_TEST_CASE("on a GPU A X by cuSPARSE is the engine's", "[gpu]", TS_ALL_TYPES) {
  using T = TestType;
  using R = result_t<T>;
  REQUIRE(cuda::cusparse_found());
  const Context ctx = device_context();
  const index_t n = 400000, entries = 8;
  const auto check = [&]<class I>(I) {
    Values values(4);
    auto there = csr_by_rows<T, I>(n, n, [&](index_t i, auto add) {
      for (index_t e = 0; e < (i % 7 == 3 ? 0 : entries); ++e)
        add((i + 31 * e * e) % n, element<T>(static_cast<double>(values.below(5) - 2), 1));
    });
    const DeviceCsrMatrix<T, I> a(ctx.stream, there.view());
    for (const index_t q : {33, 40, 33}) {  // what was prepared for one width serves no other
      const DeviceMatrix<T> x = integers<T>(ctx, n, q);
      cuda::GpuProblem problem = problem_of(Operation::spmm, dtype_of<T>, n, n, q);
      problem.problem.nonzeros = there.nonzeros(), problem.problem.index_bytes = static_cast<int>(sizeof(I));
      problem.sparse = a.view().facts;
      compare<R>(problem, cuda::SparsePolicy{}, n, q,
                 [&](const Context& on, DeviceView<R> y) { ts::spmm(on, Op::none, R{2}, a.view(), x.view(), R{}, y); });
    }
  };
  check(std::int32_t{}), check(std::int64_t{});
}

TEMPLATE_TEST_CASE("on a GPU a Gram matrix by a rank update is the engine's", "[gpu]", double, std::complex<double>) {
  using T = TestType;
  REQUIRE(cuda::cublas_found());
  const Context ctx = device_context();
  const index_t n = 20001, p = 600;
  const DeviceMatrix<T> a = integers<T>(ctx, n, p + 3);  // of which p columns
  for (const Op op : {Op::adjoint, Op::transpose})
    for (const T beta : {T{}, T{3}}) {
      cuda::GpuProblem gram = problem_of(Operation::gram, dtype_of<T>, n, p, p);
      gram.op = op;
      gram.first = cuda::form_of(DeviceStrided<const T>(a.cview().cols(0, p)));
      gram.second = gram.first;
      compare<T>(gram, cuda::ProductPolicy{0, 0, true}, p, p, [&](const Context& on, DeviceView<T> c) {
        cuda::fill_bytes(on.stream, c.data(), 0, static_cast<std::size_t>(p * p) * sizeof(T));
        ts::gram(on, op, T{2}, a.cview().cols(0, p), beta, c);
      });
    }
}

TEST_CASE("on a GPU slabs beyond the workspace go in turns", "[gpu]") {
  REQUIRE(cuda::cublas_found());
  const Context ctx = device_context();
  const index_t n = 150000, p = 2000;  // 19 slabs of 16 MB, of which 16 have room
  const DeviceMatrix<float16> a = integers<float16>(ctx, n, p);
  cuda::GpuProblem gram = problem_of(Operation::gram, DType::float16, n, p, p);
  gram.op = Op::adjoint;
  compare<float>(gram, cuda::ProductPolicy{8192, 0}, p, p,
                 [&](const Context& on, DeviceView<float> c) { ts::gram(on, Op::adjoint, 1.0F, a.view(), 0.0F, c); });
}
