// Plans of the dense kernels, made without a GPU: every shape and form has one that fits the device.
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/architectures.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/tsmm/plan.hpp"
#include "tallskinny/gemm/tsmttsm/plan.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

constexpr const char* archs[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"};

/// Forms of operands: contiguous, with a gap of one, far apart, on odd addresses, column-major, and that oddly.
std::vector<cuda::Form> forms_of(DType type) {
  const int size = scalar_bytes(type);
  return {{},
          {Layout::row_major, false, size, 1},
          {Layout::row_major, false, 16, 0},
          {Layout::row_major, true, size, 0},
          {Layout::col_major, true, 256, 0},
          {Layout::col_major, false, size, 0}};
}

std::string define_of(const cuda::KernelPlan& plan, std::string_view name) {
  for (const auto& [key, value] : cuda::defines_of(plan))
    if (key == name) return value;
  return "";
}

/// Does every sub-block of an operand whose rows follow each other begin where a unit of copying may?
bool begins_at_units(const cuda::InnerPolicy& k, bool left) {
  if ((left ? k.mode_a : k.mode_b) != cuda::TallMode::flat || (!left && k.gram)) return true;
  const int bytes = k.sub_rows * k.fold * (left ? k.pitch_a : k.pitch_b) * scalar_bytes(k.type);
  const bool in_bulk = left ? k.shift_a : k.shift_b;
  return bytes % (in_bulk ? 16 : left ? k.unit_a : k.unit_b) == 0;
}

template <class Check>
void for_each_problem(Operation operation, Check&& check) {
  for (const DType type : every_dtype)
    for (const index_t p : {1, 2, 7, 8, 9, 16, 31, 33, 48, 64, 100, 200})
      for (const index_t q : {1, 3, 8, 17, 32, 49, 64})
        for (const cuda::Form& form : forms_of(type)) {
          cuda::GpuProblem problem{.problem = {operation, type, 1 << 22, p, operation == Operation::gram ? p : q}};
          problem.problem.accumulate = p % 2 == 0;
          problem.first = problem.second = problem.out = form;
          CAPTURE(name_of(operation), name_of(type), p, q, static_cast<int>(form.layout), form.alignment, form.gap);
          check(problem);
        }
}

}  // namespace

TEST_CASE("every inner product of tall operands has a plan that fits") {
  for (const char* arch : archs) {
    const cuda::DeviceInfo device = cuda::typical_device(arch);
    for_each_problem(Operation::tsmttsm, [&](const cuda::GpuProblem& problem) {
      const auto candidates = cuda::inner_candidates(problem, device);
      REQUIRE_FALSE(candidates.empty());
      for (const cuda::Candidate& c : candidates) {
        REQUIRE(c.seconds > 0);
        REQUIRE(c.kernel.shared_bytes <= static_cast<std::size_t>(device.shared_bytes_per_block));
        REQUIRE(c.kernel.block <= 1024);
        REQUIRE(c.kernel.grid <= static_cast<unsigned>(device.multiprocessors));
        if (c.kernel.grid == 0) continue;  // in pieces
        const auto policy = cuda::policy_of<cuda::InnerPolicy>(c.kernel);
        REQUIRE((begins_at_units(policy, true) && begins_at_units(policy, false)));
      }
    });
  }
}

TEST_CASE("every tall times small product has a plan that fits") {
  for (const char* arch : archs) {
    const cuda::DeviceInfo device = cuda::typical_device(arch);
    const index_t widest = cuda::tsmm_widest(DType::complex128, cuda::limits_of(device, Determinism::run_to_run));
    CHECK(widest >= 16);
    for_each_problem(Operation::tsmm, [&](const cuda::GpuProblem& problem) {
      const Problem& pr = problem.problem;
      if (std::max(pr.p, pr.q) > cuda::tsmm_widest(pr.type, cuda::limits_of(device, Determinism::run_to_run))) return;
      const auto candidates = cuda::tsmm_candidates(problem, device);
      REQUIRE_FALSE(candidates.empty());
      for (const cuda::Candidate& c : candidates)
        REQUIRE(c.kernel.shared_bytes <= static_cast<std::size_t>(device.shared_bytes_per_block));
    });
  }
}

TEST_CASE("chunks of tall times small products are worth a ticket, and leave in bulk") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  for (const DType type : every_dtype)
    for (index_t width = 1; width <= 64; ++width) {
      CAPTURE(name_of(type), width);
      cuda::GpuProblem problem{.problem = {Operation::tsmm, type, 1 << 22, width, width}};
      const auto kernel = cuda::tsmm_candidates(problem, device).front().kernel;
      const index_t row = width * static_cast<index_t>(size_of(type) + size_of(result_type_of(type)));
      const auto policy = cuda::policy_of<cuda::TsmmPolicy>(kernel);
      CHECK(policy.rows() * row >= 6 * 1024);
      CHECK(policy.bulk_y);
      CHECK(kernel.grid == static_cast<unsigned>(device.multiprocessors));
    }
}

TEST_CASE("devices have the features of their architecture, and names that lead back to them") {
  for (const char* arch : archs) {
    const cuda::DeviceInfo device = cuda::typical_device(arch);
    CHECK(device.arch() == arch);
    CHECK(device.features().bulk_copies == (device.compute_major >= 9));
    CHECK(device.features().warpgroups == (device.compute_major == 9));
  }
  CHECK_THROWS_AS(cuda::typical_device("sm_70"), Error);
}

TEST_CASE("at level gpu_to_gpu a plan depends on the shape alone") {
  const cuda::DeviceInfo here = cuda::typical_device("sm_90a"), there = cuda::typical_device("sm_100");
  for_each_problem(Operation::gram, [&](cuda::GpuProblem problem) {
    problem.determinism = Determinism::gpu_to_gpu;
    const auto a = cuda::inner_candidates(problem, here), b = cuda::inner_candidates(problem, there);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i].kernel == b[i].kernel);
  });
}

TEST_CASE("the blocks of a short inner product meet in clusters that all find room, those of a long one do not") {
  const auto plan = [](const char* arch, index_t n) {
    cuda::GpuProblem problem{.problem = {Operation::tsmttsm, DType::float16, n, 32, 32}};
    return cuda::make_plan(problem, cuda::typical_device(arch)).kernel;
  };
  for (const index_t n : {200, 1 << 14, 1 << 17, 1 << 20}) {
    CAPTURE(n);
    const cuda::KernelPlan kernel = plan("sm_90a", n);
    CHECK(define_of(kernel, "cluster") == "8");
    CHECK(kernel.grid % 8 == 0);
    CHECK(kernel.grid <= 120);
    CHECK(2 * kernel.shared_bytes > static_cast<std::size_t>(227 * 1024));
    CHECK(define_of(plan("sm_80", n), "cluster") == "1");
  }
  CHECK(define_of(plan("sm_90a", 1 << 14), "flush") == "0");
  CHECK(define_of(plan("sm_90a", 100), "cluster") == "1");  // one block
  CHECK(define_of(plan("sm_90a", 1 << 24), "cluster") == "1");
  CHECK(plan("sm_90a", 1 << 24).grid == 132);
}

TEST_CASE("narrow operands fold, contiguous ones are copied in bulk, and a wide basis is cut into panels") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem{.problem = {Operation::tsmttsm, DType::float64, 1 << 24, 3, 5}};
  const auto narrow = cuda::inner_candidates(problem, device).front().kernel;
  CHECK(define_of(narrow, "fold") == "3");  // 3 x 5 columns are the most within 16
  CHECK(define_of(narrow, "mode_a") == "0");
  CHECK(define_of(narrow, "producers") == "1");

  problem.problem.p = 512, problem.problem.q = 16;
  const auto wide = cuda::inner_candidates(problem, device).front().kernel;
  const index_t panels = cuda::inner_panels(problem, wide);
  CHECK(panels >= 2);
  CHECK(wide.grid % static_cast<unsigned>(panels) == 0);

  problem.problem = {Operation::tsm2r, DType::float32, 20480, 20480, 8};
  const auto square_plan = cuda::inner_candidates(problem, device).front().kernel;
  const auto square = cuda::inner_problem_of(problem, cuda::inner_panel_of(square_plan));
  CHECK(square.rows == 20480);
  CHECK(square.p * square.panels >= 20480);
  CHECK(square.panels <= device.multiprocessors);
}

TEST_CASE("float32 is split where arithmetic bounds, and warpgroups multiply where the device has them") {
  cuda::GpuProblem problem{.problem = {Operation::tsmttsm, DType::complex64, 1 << 22, 64, 64}};
  const auto best = [&](const char* arch) { return cuda::make_plan(problem, cuda::typical_device(arch)).kernel; };
  CHECK(best("sm_90a").family == "tsmttsm_wgmma");
  problem.problem.operation = Operation::gram;
  CHECK(best("sm_90a").family == "tsmttsm_wgmma");
  problem.problem.p = problem.problem.q = 32;  // at most 64 real columns
  CHECK(best("sm_90a").family == "gram_wgmma");
  problem.problem = {Operation::tsmttsm, DType::complex64, 1 << 22, 64, 64};
  CHECK(best("sm_80").family == "tsmttsm");
  CHECK(define_of(best("sm_80"), "arithmetic") == "1");
  problem.problem.p = problem.problem.q = 8;  // memory bounds, and other kernels start faster
  CHECK(best("sm_90a").family == "tsmttsm");
  problem.problem.p = problem.problem.q = 64;
  problem.problem.n = 1000;  // float64 is exact and costs nothing here
  CHECK(best("sm_90a").family == "tsmttsm_cluster");
  CHECK(define_of(best("sm_90a"), "arithmetic") == "0");
}

TEST_CASE("complex128 takes three real products for a complex one where arithmetic bounds, and only there") {
  const auto kernel = [](Operation op, DType type, index_t n, index_t width, const char* arch) {
    cuda::GpuProblem problem{.problem = {op, type, n, width, width}};
    return cuda::make_plan(problem, cuda::typical_device(arch)).kernel;
  };
  for (const Operation op : {Operation::tsmttsm, Operation::gram})
    for (const index_t width : {32, 48, 49, 56, 64}) {
      CAPTURE(width);
      const bool bound = width > 48;
      CHECK(define_of(kernel(op, DType::complex128, 1 << 22, width, "sm_90a"), "three") == (bound ? "1" : "0"));
      CHECK(define_of(kernel(op, DType::complex128, 1000, width, "sm_90a"), "three") == "0");
    }
  CHECK(define_of(kernel(Operation::gram, DType::complex128, 1 << 22, 64, "sm_90a"), "pairs") == "1");
  CHECK(define_of(kernel(Operation::tsmttsm, DType::float64, 1 << 22, 64, "sm_90a"), "three") == "0");
}

TEST_CASE("float32 is split wherever that is faster than the float64 of graphics chips") {
  for (const char* arch : {"sm_86", "sm_89", "sm_120"})
    for (const Operation op : {Operation::tsmttsm, Operation::gram, Operation::tsmm})
      for (const index_t width : {32, 48, 64}) {
        CAPTURE(arch, name_of(op), width);
        const cuda::GpuProblem problem{.problem = {op, DType::float32, 1 << 24, width, width}};
        CHECK(define_of(cuda::make_plan(problem, cuda::typical_device(arch)).kernel, "arithmetic") == "1");
      }
  for (const index_t width : {2, 8, 16}) {  // sums over rows always have terms enough
    const cuda::GpuProblem problem{.problem = {Operation::gram, DType::complex64, 1 << 24, width, width}};
    CHECK(define_of(cuda::make_plan(problem, cuda::typical_device("sm_89")).kernel, "arithmetic") == "1");
  }
}

TEST_CASE("measured rates are taken in steps, and none that are near the assumed ones") {
  const cuda::DeviceInfo assumed = cuda::typical_device("sm_90a");
  cuda::DeviceInfo measured = assumed, taken = assumed;
  measured.read_bytes_per_second *= 0.93, measured.half_tensor_flops *= 1.1;
  cuda::take_rates(taken, cuda::text_of_rates(measured));
  CHECK(taken == assumed);
  measured.float64_flops *= 0.031, measured.launch_seconds = 2.31e-6;
  cuda::take_rates(taken, "no rate\n" + cuda::text_of_rates(measured));
  CHECK(taken == assumed);  // what follows a line that is none is left out
  cuda::take_rates(taken, cuda::text_of_rates(measured));
  CHECK(taken.float64_flops == Approx(measured.float64_flops).epsilon(0.03));
  CHECK(taken.launch_seconds == Approx(2.31e-6).epsilon(0.03));
  CHECK(taken.read_bytes_per_second == assumed.read_bytes_per_second);
  measured.float64_flops *= 1.001;  // as noise would have it
  cuda::DeviceInfo again = assumed;
  cuda::take_rates(again, cuda::text_of_rates(measured));
  CHECK(again == taken);
}

TEST_CASE("the small tiles of a narrow Gram matrix of float32 are summed in float64 rather than split") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem{.problem = {Operation::gram, DType::float32, 1 << 24, 40, 40}};
  const auto tilings =
      cuda::inner_tilings(cuda::inner_problem_of(problem, 40), cuda::limits_of(device, Determinism::run_to_run));
  const auto single = std::find_if(tilings.begin(), tilings.end(), [](const auto& t) { return !t.warpgroups; });
  REQUIRE(single != tilings.end());
  CHECK_FALSE(single->split);
}

TEST_CASE("memory that is fast for its multiprocessors is asked for less at once") {
  cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem;
  const auto shared_kib = [&](double bytes_per_second) {
    device.read_bytes_per_second = bytes_per_second;
    return cuda::inner_candidates(problem, device).front().kernel.shared_bytes / 1024;
  };
  for (const index_t w : {10, 12, 20}) {
    CAPTURE(w);
    problem.problem = {Operation::gram, DType::float64, 10'000'000, w, w};
    CHECK(shared_kib(4.6e12) <= 76);
    problem.problem = {Operation::tsmttsm, DType::float64, 10'000'000, w, w};
    CHECK(shared_kib(4.6e12) <= 76);
    CHECK(shared_kib(3.1e12) > 76);
  }
}
