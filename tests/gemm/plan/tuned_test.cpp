#include "tallskinny/gemm/plan/tuned.hpp"

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using test::message_of;

namespace {

cuda::GpuProblem tall_times_small(index_t n, index_t width) {
  cuda::GpuProblem p;
  p.problem = {Operation::tsmm, DType::float64, n, width, width};
  return p;
}

/// The defines of `kernel` that `other` does not have.
cuda::Defines difference(const cuda::KernelPlan& kernel, const cuda::KernelPlan& other) {
  cuda::Defines some;
  for (const auto& define : cuda::defines_of(kernel))
    if (!cuda::has_defines(other, {define})) some.push_back(define);
  return some;
}

}  // namespace

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
  CHECK(cuda::explain(plan, device).find("tuned table: 1.250 times") != std::string::npos);

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
  CHECK(complaint("tsmm float64 gain tiles=2\n").find("line 1") != std::string::npos);
  CHECK(complaint("\ntsmm float64 gain 1.1 tiles\n").find("line 2") != std::string::npos);
}

TEST_CASE("every shipped table is well-formed and for a device that has a name") {
  for (const cuda::Source& source : cuda::tuned_texts()) {
    CHECK(source.text.substr(0, 2) == "# ");
    CHECK_NOTHROW(cuda::TunedTable(source.text));
  }
  CHECK(cuda::shipped_table("a device that nobody has tuned for").size() == 0);
}
