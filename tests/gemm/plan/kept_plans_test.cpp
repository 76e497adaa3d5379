#include <latch>

#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

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
