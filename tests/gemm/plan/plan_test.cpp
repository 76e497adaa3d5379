#include "tallskinny/gemm/plan/plan.hpp"
#include <latch>
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

/// A machine whose numbers make predictions easy to check by hand.
ProcessorInfo machine() {
  return ProcessorInfo{.name = "a machine with 4 cores",
                       .threads = 4,
                       .simd = Simd::avx2,
                       .l2_bytes = 1 << 20,
                       .l3_bytes = 16 << 20,
                       .read_bytes_per_second = 40e9,
                       .copy_bytes_per_second = 32e9,
                       .cache_bytes_per_second = 400e9,
                       .float64_flops = 100e9,
                       .float32_flops = 200e9,
                       .launch_seconds = 1e-5};
}

constexpr index_t million = 1000000;

cuda::GpuProblem tall_times_small(index_t n, index_t width) {
  return cuda::GpuProblem{.problem = {Operation::tsmm, DType::float64, n, width, width}};
}

/// The defines of `kernel` that `other` does not have.
cuda::Defines difference(const cuda::KernelPlan& kernel, const cuda::KernelPlan& other) {
  cuda::Defines some;
  for (const auto& define : cuda::defines_of(kernel))
    if (!cuda::has_defines(other, {define})) some.push_back(define);
  return some;
}

}  // namespace

TEST_CASE("bytes and flops of every operation are those of its model") {
  using O = Operation;
  const auto cost = [](O op, DType t, bool accumulate = false) {
    return cost_of({op, t, million, 4, 3, accumulate, true, 7 * million, 4});
  };
  CHECK(cost(O::tsmttsm, DType::float64) == Cost{7 * 8e6, 12 * 8, 24e6});
  CHECK(cost(O::tsmttsm, DType::complex128).flops == 96e6);
  CHECK(cost(O::tsmttsm, DType::float16) == Cost{7 * 2e6, 12 * 4, 24e6});
  CHECK(cost(O::gram, DType::float32) == Cost{4 * 4e6, 16 * 4, 20e6});
  CHECK(cost(O::gram, DType::complex64).flops == 80e6);
  CHECK(cost(O::tsmm, DType::bfloat16) == Cost{4 * 2e6 + 12 * 4, 3 * 4e6, 24e6});
  CHECK(cost(O::tsmm, DType::float64, true).read_bytes == 7 * 8e6 + 12 * 8);
  CHECK(cost(O::tsmm_in_place, DType::float64).bytes() == 7 * 8e6 + 12 * 8);
  CHECK(cost(O::tsm2r, DType::float64).bytes() == 7 * 8e6 + 12 * 8);
  CHECK(cost(O::spmm, DType::float64) == Cost{7e6 * 12 + 8 * (million + 1.0) + 12 * 8, 3 * 8e6, 42e6});
  CHECK(cost(O::inner_and_gram, DType::float64) == Cost{7 * 8e6, 21 * 8, 24e6 + 12e6});
  CHECK(cost(O::project_out, DType::float64).flops == 48e6 + 12e6);
  CHECK(cost(O::column_norms, DType::float64) == Cost{4 * 8e6, 32, 8e6});
  CHECK(cost(O::trsm, DType::complex128) == Cost{4 * 16e6 + 128, 4 * 16e6, 64e6});
  CHECK_THROWS_AS(cost_of({O::tsmm, DType::float64, -1, 1, 1}), Error);
}

TEST_CASE("a narrow product is memory-bound, a wide one arithmetic-bound, a tiny one launch-bound") {
  const auto narrow = make_plan({Operation::tsmttsm, DType::float64, million, 4, 4}, machine());
  CHECK(narrow.bound == Bound::memory);
  CHECK(narrow.memory_seconds == narrow.cost.bytes() / 40e9);
  CHECK(narrow.seconds == narrow.memory_seconds + narrow.launch_seconds);
  const auto wide = make_plan({Operation::tsmttsm, DType::float64, million, 256, 256}, machine());
  CHECK(wide.bound == Bound::arithmetic);
  CHECK(wide.arithmetic_seconds >= wide.cost.flops / 100e9);
  const auto tiny = make_plan({Operation::tsmttsm, DType::float64, 10, 4, 4}, machine());
  CHECK(tiny.bound == Bound::launch);
  CHECK(tiny.threads == 1);
}

TEST_CASE("operations that write are judged by the copy roof, others by the read roof") {
  const auto norms = make_plan({Operation::column_norms, DType::float64, million, 8, 8}, machine());
  CHECK(norms.memory_seconds == norms.cost.bytes() / 40e9);
  const auto copy = make_plan({Operation::tsmm, DType::float64, million, 8, 8}, machine());
  CHECK(copy.memory_seconds == copy.cost.bytes() / 32e9);
}

TEST_CASE("operands that fit the caches are predicted at the speed of the caches") {
  const auto plan = make_plan({Operation::column_norms, DType::float64, 10000, 8, 8}, machine());
  CHECK(plan.memory_seconds < plan.cost.bytes() / 40e9);
}

TEST_CASE("the last tile and the last wave count") {
  const auto full = make_plan({Operation::tsmm, DType::float64, million, 16, 16}, machine());
  CHECK(full.tile_utilisation == 1.0);
  const auto over = make_plan({Operation::tsmm, DType::float64, million, 16, 17}, machine());
  CHECK(over.tile_utilisation < 0.9);
  CHECK(over.arithmetic_seconds > 1.1 * full.arithmetic_seconds * 17 / 16);

  const auto waves = make_plan({Operation::trsm, DType::float64, 9 * 512, 4, 4}, machine());
  CHECK(waves.chunks == 9);  // on 4 threads: three waves, the last with one chunk
  CHECK(waves.wave_utilisation == 9.0 / 12.0);
}

TEST_CASE("the cut into chunks depends on the shape and the vectors, not on threads or caches") {
  ProcessorInfo other = machine();
  other.threads = 64;
  other.l2_bytes = 123456;
  for (const Operation op : every_operation)
    for (const DType type : every_dtype)
      for (const index_t w : {1, 3, 8, 65}) {
        const Problem problem{op, type, 123457, w, w};
        const auto here = make_plan(problem, machine()), there = make_plan(problem, other);
        CHECK(here.chunks > 0);
        if (op != Operation::spmm) CHECK(here.chunk_rows == there.chunk_rows);
        CHECK(here.chunks * here.chunk_rows >= 123457);
      }
}

TEST_CASE("results larger than the caches are written past them") {
  CHECK(make_plan({Operation::tsmm, DType::float64, 10 * million, 8, 8}, machine()).streaming_stores);
  CHECK_FALSE(make_plan({Operation::tsmm, DType::float64, 10000, 8, 8}, machine()).streaming_stores);
  CHECK_FALSE(make_plan({Operation::tsmm, DType::float64, 10 * million, 8, 8, true}, machine()).streaming_stores);
  CHECK_FALSE(make_plan({Operation::tsmttsm, DType::float64, 10 * million, 8, 8}, machine()).streaming_stores);
}

TEST_CASE("an override is obeyed, and is an error where it cannot be met") {
  const Problem problem{Operation::tsmm, DType::float64, million, 2, 2};
  PlanOverrides wish{.simd = Simd::sse2, .threads = 2};
  const auto plan = make_plan(problem, machine(), wish);
  CHECK(plan.simd == Simd::sse2);
  CHECK(plan.lanes == 2);
  CHECK(plan.threads == 2);
  wish.simd = Simd::avx512;
  CHECK_THROWS_AS(make_plan(problem, machine(), wish), Error);
  wish.simd = Simd::best;
  wish.threads = -1;
  CHECK_THROWS_AS(make_plan(problem, machine(), wish), Error);
}

TEST_CASE("narrow widths are folded into vectors, several rows to each") {
  const auto plan = [](DType type, index_t w) {
    return make_plan({Operation::tsmttsm, type, million, w, w}, machine());
  };
  CHECK(plan(DType::float64, 2).fold == 2);
  CHECK(plan(DType::float64, 2).kernel == "folded rows");
  CHECK(plan(DType::float32, 3).fold == 2);
  CHECK(plan(DType::float32, 3).tile_utilisation == 6.0 / 8.0);
  CHECK(plan(DType::float64, 8).fold == 1);
  CHECK(plan(DType::float64, 8).kernel == "rows");
}

TEST_CASE("plans can be compared and printed") {
  const Problem problem{Operation::tsmttsm, DType::complex64, million, 3, 5};
  const auto plan = make_plan(problem, machine());
  CHECK(plan == make_plan(problem, machine()));
  CHECK_FALSE(plan == make_plan({Operation::tsmttsm, DType::complex64, million, 3, 6}, machine()));
  std::ostringstream line;
  line << plan;
  for (const char* word : {"tsmttsm", "complex64", "1000000 x 3", "avx2", "chunks", "memory-bound"})
    CHECK(mentions(line.str(), word));
  const std::string text = explain(plan, machine());
  for (const char* word : {"a machine with 4 cores", "moves", "because", "memory", "chunks", "% busy"})
    CHECK(mentions(text, word));
}

TEST_CASE("sizes beyond 32 bits are counted in full, and n = 0 has a plan") {
  const auto huge = make_plan({Operation::tsmm, DType::float64, index_t{1} << 40, 64, 64}, machine());
  CHECK(huge.chunks * huge.chunk_rows >= index_t{1} << 40);
  CHECK(huge.cost.bytes() > 1e15);
  const auto empty = make_plan({Operation::tsmm, DType::float64, 0, 4, 4}, machine());
  CHECK(empty.chunks == 0);
  CHECK(std::isfinite(empty.seconds));
}

TEST_CASE("names and values of operations and types go both ways") {
  for (const Operation op : every_operation) CHECK(operation_named(name_of(op)) == op);
  for (const DType t : every_dtype) CHECK(dtype_named(name_of(t)) == t);
  CHECK(dtype_names(" or ") == "float64, complex128, float32, complex64, float16 or bfloat16");
  CHECK_FALSE(operation_named("gemm").has_value());
  CHECK_FALSE(dtype_named("float128").has_value());
}

TEST_CASE("this processor is described") {
  const ProcessorInfo& cpu = this_cpu();
  CHECK_FALSE(cpu.name.empty());
  CHECK(cpu.threads >= 1);
  CHECK(cpu.simd != Simd::best);
  CHECK(cpu.l1_bytes >= 1024);
  CHECK(cpu.read_bytes_per_second > 0);
}

// Amounts and shapes as people read them.

TEST_CASE("amounts have two decimals below ten of a unit, and times always") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1536) == "1.50 KiB");
  CHECK(bytes_text(20480) == "20 KiB");
  CHECK(flops_text(2.5e9) == "2.50 Gflop");
  CHECK(flops_text(3e15) == "3000 Tflop");
  CHECK(time_text(2) == "2.00 s");
  CHECK(time_text(1.5e-3) == "1.50 ms");
  CHECK(time_text(2e-6) == "2.00 us");
}

TEST_CASE("shapes say what is multiplied") {
  CHECK(shape_text({Operation::gram, DType::float64, 1000, 8, 8}) == "1000 x 8");
  CHECK(shape_text({Operation::tsmm, DType::float64, 1000, 8, 4}) == "1000 x 8 times 8 x 4");
  CHECK(shape_text({Operation::tsmttsm, DType::float64, 1000, 8, 4}) == "1000 x 8 and 1000 x 4");
}

TEST_CASE("a tuned table chooses among the candidates, and says what it gains") {
  cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  device.tuned = nullptr;
  const cuda::GpuProblem problem = tall_times_small(10000000, 16);
  const auto candidates = cuda::ranked_candidates(problem, device);
  REQUIRE(candidates.size() > 1);
  CHECK(cuda::make_plan(problem, device).kernel == candidates.front().kernel);
  CHECK(cuda::make_plan(problem, device).gain == 0);

  auto table = std::make_shared<cuda::TunedTable>();
  const cuda::Defines mark = difference(candidates[1].kernel, candidates[0].kernel);
  REQUIRE(!mark.empty());
  table->set(cuda::tuned_key(problem), {mark, 1.25});
  device.tuned = table;
  const cuda::GpuPlan plan = cuda::make_plan(problem, device);
  CHECK(cuda::has_defines(plan.kernel, mark));
  CHECK(plan.gain == 1.25);
  CHECK(mentions(cuda::explain(plan, device), "tuned table: 1.250 times"));

  SECTION("other widths, short operands and the level gpu_to_gpu are left to the model") {
    CHECK(cuda::make_plan(tall_times_small(10000000, 17), device).gain == 0);
    CHECK(cuda::make_plan(tall_times_small(1000, 16), device).gain == 0);
    cuda::GpuProblem everywhere = problem;
    everywhere.determinism = Determinism::gpu_to_gpu;
    CHECK(cuda::make_plan(everywhere, device).gain == 0);
  }
  SECTION("a choice that no candidate fits any more is ignored") {
    auto old = std::make_shared<cuda::TunedTable>();
    old->set(cuda::tuned_key(problem), {{{"no_such_member", "1"}}, 2});
    device.tuned = old;
    CHECK(cuda::make_plan(problem, device).kernel == candidates.front().kernel);
  }
}

TEST_CASE("a tuned table is text that reads back") {
  cuda::TunedTable table;
  table.set("tsmm float64 16 16 ra256,ra256,ra256", {{{"tiles", "2"}, {"groups", "4"}}, 1.0625});
  const cuda::TunedTable again("# a remark\n" + table.text());
  CHECK(again.size() == 1);
  CHECK(again.text() == table.text());
  const auto complaint = [](const char* text) { return message_of([&] { (void)cuda::TunedTable(text); }); };
  CHECK(mentions(complaint("tsmm float64 gain tiles=2\n"), "line 1"));
  CHECK(mentions(complaint("\ntsmm float64 gain 1.1 tiles\n"), "line 2"));
}

TEST_CASE("every shipped table is well-formed and for a device that has a name") {
  for (const cuda::Source& source : cuda::tuned_texts()) {
    CHECK(source.text.substr(0, 2) == "# ");
    CHECK_NOTHROW(cuda::TunedTable(source.text));
  }
  CHECK(cuda::shipped_table("a device that nobody has tuned for").size() == 0);
}

namespace {

cuda::GpuProblem problem_of(index_t rows) {
  return cuda::GpuProblem{.problem = {Operation::tsmm, DType::float64, rows, 8, 8}};
}

/// Takes until another of them is being made.
struct MadeInPairs {
  MadeInPairs(const cuda::GpuProblem&, const cuda::DeviceInfo&) { both().arrive_and_wait(); }
  static std::latch& both() {
    static std::latch latch(2);
    return latch;
  }
};

struct FailsAtFirst {
  FailsAtFirst(const cuda::GpuProblem&, const cuda::DeviceInfo&) {
    if (++tries() == 1) throw Error(Errc::device_failure, "no room");
  }
  static std::atomic<int>& tries() {
    static std::atomic<int> count = 0;
    return count;
  }
};

}  // namespace

TEST_CASE("a plan is made once for a problem and a device") {
  const cuda::DeviceInfo h100 = cuda::typical_device("sm_90a"), a100 = cuda::typical_device("sm_80");
  const auto plan = cuda::kept_plan(problem_of(1 << 20), h100);
  CHECK(plan->kernel.plan() == cuda::make_plan(problem_of(1 << 20), h100).kernel);
  CHECK(cuda::kept_plan(problem_of(1 << 20), h100) == plan);
  CHECK(cuda::kept_plan(problem_of(1 << 21), h100) != plan);
  CHECK(cuda::kept_plan(problem_of(1 << 20), a100) != plan);
}

TEST_CASE("a plan stays valid while others take its place") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  const auto plan = cuda::kept_plan(problem_of(12345), device);
  for (index_t rows = 1; rows <= 1100; ++rows) (void)cuda::kept_plan(problem_of(rows), device);
  CHECK(plan->kernel.plan() == cuda::make_plan(problem_of(12345), device).kernel);
  CHECK(cuda::kept_plan(problem_of(12345), device)->kernel.plan() == plan->kernel.plan());
}

TEST_CASE("plans of two devices are made side by side") {
  cuda::DeviceInfo one = cuda::typical_device("sm_90a"), other = one;
  other.index = one.index + 1;
  std::shared_ptr<const MadeInPairs> first, second;
  std::thread beside([&] { first = cuda::kept_plan<MadeInPairs>(problem_of(8), one); });
  second = cuda::kept_plan<MadeInPairs>(problem_of(8), other);
  beside.join();
  CHECK(first != second);
}

TEST_CASE("a plan that could not be made is tried again") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  CHECK_THROWS_AS(cuda::kept_plan<FailsAtFirst>(problem_of(8), device), Error);
  CHECK(cuda::kept_plan<FailsAtFirst>(problem_of(8), device) != nullptr);
}
