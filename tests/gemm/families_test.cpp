// Every kernel family compiled for every architecture, without a GPU.
#include "tallskinny/gemm/copy/copy_rows.hpp"
#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/parts.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/norms/plan.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/random/plan.hpp"
#include "tallskinny/gemm/spmm/plan.hpp"
#include "tallskinny/gemm/tsmm/plan.hpp"
#include "tallskinny/gemm/tsmttsm/plan.hpp"
#include "tallskinny/tests/gemm/compile_plans.hpp"

namespace {

constexpr index_t biting_widths[] = {1, 3, 8, 17, 31, 32, 48, 64};

/// How operands may lie: as they usually do, with gaps, on odd addresses, column-major.
cuda::Form form_number(std::size_t i, int size) {
  const cuda::Form forms[] = {{},
                              {Layout::row_major, false, size},
                              {Layout::col_major, true, 256},
                              {Layout::row_major, true, size},
                              {Layout::col_major, false, size}};
  return forms[i % std::size(forms)];
}
constexpr std::size_t form_count = 5;

/// The least alignment that an element has, and that a result has.
int alignment_of(DType type) {
  const bool complex = type == DType::complex128 || type == DType::complex64;
  return static_cast<int>(size_of(type)) / (complex ? 2 : 1);
}
int result_alignment_of(DType type) { return std::max(4, alignment_of(type)); }

constexpr index_t many_rows = 1 << 24, few_rows = 1 << 15;

std::vector<cuda::GpuProblem> biting_problems(Operation op, const std::string& arch, index_t rows = many_rows) {
  std::vector<cuda::GpuProblem> problems;
  std::size_t turn = 0;
  for (const DType type : every_dtype)
    for (const index_t width : biting_widths)
      for (std::size_t form = 0; form < form_count; ++form) {
        ++turn;
        // All widths as operands usually lie on one architecture; of the rest, and of types whose kernels are
        // those of another type but for a few instructions, each in its turn; of the other architectures,
        // whose sources are the same but for some instructions, half as many.
        const index_t every = type == DType::bfloat16 ? 3 : type == DType::complex64 ? 2 : 1;
        const bool usual =
            form == 0 && arch == "sm_90a" && rows == many_rows && static_cast<index_t>(turn / form_count) % every == 0;
        if (!usual && turn % (arch == "sm_90a" ? 17 : 34) != 0) continue;
        cuda::GpuProblem p{.problem = {op, type, rows, width, width}};
        p.problem.nonzeros = 7 * p.problem.n;
        p.shifted = op == Operation::spmm && turn % 3 == 1;
        if (turn % 3 == 0) p.problem.q = biting_widths[turn / 3 % std::size(biting_widths)];
        if (op == Operation::tsm2r) p.problem.p = 20000;
        p.op = op == Operation::tsmttsm || op == Operation::gram ? Op::adjoint : Op::none;
        p.first = form_number(form, alignment_of(type));
        p.second = form_number(form + turn % 2, alignment_of(type));
        p.out = form_number(form, result_alignment_of(type));
        p.problem.contiguous = form == 0;
        problems.push_back(p);
        const bool inner = op == Operation::tsmttsm || op == Operation::gram;
        if (turn % (inner ? 8 : 4) == 0 && rows == many_rows &&
            (inner || op == Operation::project_out || op == Operation::inner_and_gram ||
             op == Operation::column_norms)) {  // some of those that leave sums over rows in parts
          p.determinism = Determinism::gpu_to_gpu, p.parts = 24, p.problem.n /= 16;
          problems.push_back(p);
        }
      }
  return problems;
}

/// The best candidate of `family` for each problem, each kernel once.
std::vector<cuda::KernelPlan> plans_of(const cuda::Family& family, const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> plans;
  std::set<std::vector<index_t>> seen;
  const auto add = [&](const std::vector<cuda::GpuProblem>& problems) {
    for (const cuda::GpuProblem& problem : problems) {
      auto candidates = family.candidates(problem, device);
      const auto best = std::min_element(candidates.begin(), candidates.end(),
                                         [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
      if (best != candidates.end() && seen.insert(best->kernel.members).second) plans.push_back(best->kernel);
    }
  };
  for (const Operation op : every_operation) {
    add(biting_problems(op, device.arch()));
    if (op == Operation::tsmttsm || op == Operation::gram) add(biting_problems(op, device.arch(), few_rows));
  }
  return plans;
}

/// Kernels that serve several operations.
std::vector<cuda::KernelPlan> shared_plans(const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> plans;
  for (const DType type : {DType::float64, DType::complex128, DType::float32, DType::complex64})
    for (std::size_t form = 0; form < form_count; ++form)
      plans.push_back(
          cuda::plan_scale(type, form_number(form, alignment_of(type)), 1000, 3 + static_cast<index_t>(form), device));
  for (const DType type : {DType::float64, DType::complex128, DType::float32, DType::complex64})
    for (const bool of_results : {false, true}) plans.push_back(cuda::plan_sum_parts(type, 1000, of_results));
  for (const DType type : every_dtype) plans.push_back(cuda::plan_norms_of_parts(type, 1000));
  for (std::size_t form = 0; form < form_count; ++form)
    for (const DType type : {DType::float64, DType::float32})
      plans.push_back(cuda::plan_random_fill(type, form_number(form, alignment_of(type)), 1000,
                                             8 - static_cast<index_t>(form), device));
  for (const DType to : {DType::float64, DType::float32})
    for (const DType from : {DType::float64, DType::float32})
      for (std::size_t form = 0; form < 2; ++form)
        plans.push_back(cuda::plan_copy_rows(to, form_number(form, alignment_of(to)), from,
                                             form_number(1 - form, alignment_of(from)), 1000, 8, device));
  for (const cuda::Listed listed : {cuda::Listed::from, cuda::Listed::to})
    for (const DType type : {DType::float64, DType::float32})
      for (const index_t width : {1, 8})
        plans.push_back(cuda::plan_copy_rows(type, form_number(0, alignment_of(type)), type,
                                             form_number(0, alignment_of(type)), 1000, width, device, listed));
  for (const std::size_t bytes : {2, 4, 8, 16})
    for (const bool from_rows : {false, true})
      plans.push_back(cuda::plan_convert(bytes, 8, from_rows, 1000000, 20, device));
  // Sparse products by parts, with what follows them.
  for (cuda::GpuProblem& problem : biting_problems(Operation::spmm, device.arch())) {
    problem.sparse = {1000, 100, 10, 7000, 50, 90};
    for (const int index_bytes : {4, 8}) {
      problem.problem.index_bytes = index_bytes;
      const auto candidates = cuda::spmm_candidates(problem, device);
      for (std::size_t i = 1; i < candidates.size(); ++i) plans.push_back(candidates[i].kernel);
    }
    plans.push_back(cuda::spmm_splits_plan(cuda::policy_of<cuda::SpmmPolicy>(plans.back()), problem.sparse));
  }
  for (const DType type : {DType::float64, DType::complex128, DType::float32, DType::complex64})
    for (const int index_bytes : {4, 8})
      for (const index_t of_row : {7, 1000}) plans.push_back(cuda::plan_residual(type, index_bytes, 1000, of_row));
  // Products with a wide basis, in panels of widths of their own.
  for (const DType type : every_dtype)
    for (const index_t q : {16, 64}) {
      if (device.capability() != 90 && (q == 16 || size_of(type) % 8 != 0)) continue;
      cuda::GpuProblem problem{.problem = {Operation::tsmttsm, type, 1 << 22, 512, q}};
      plans.push_back(cuda::inner_candidates(problem, device).front().kernel);
    }
  // Both kernels of a wide X, which starts beyond the widths above.
  std::size_t turn = 0;
  for (const DType type : every_dtype)
    for (const index_t q : biting_widths) {
      cuda::GpuProblem problem;
      problem.problem = {Operation::tsmm, type, 1 << 22, 512, q, ++turn % 2 == 0};
      problem.out = form_number(turn, result_alignment_of(type));
      const auto candidates = cuda::wide_candidates(problem, device);
      if (candidates.empty()) continue;  // before sm_90
      if (device.capability() != 90 && turn % 3 != 0) continue;
      plans.push_back(candidates.front().kernel);
      plans.push_back(cuda::wide_shape(problem, plans.back()).factor);
    }
  return plans;
}

void compile_families(const std::string& arch, int every = 1) {
  const cuda::DeviceInfo device = cuda::typical_device(arch);
  std::vector<cuda::KernelPlan> plans = shared_plans(device);
  for (const cuda::Family& family : cuda::families()) {
    const auto some = plans_of(family, device);
    INFO("family " << family.name);
    CHECK(some.empty() == (family.name == "tsmm_wide" && device.capability() < 90));
    plans.insert(plans.end(), some.begin(), some.end());
  }
  // A problem that is cut into several has no kernel of its own.
  std::erase_if(plans, [](const cuda::KernelPlan& plan) { return plan.grid == 0; });
  test::compile_plans(arch, test::some_of(plans, every));
}

}  // namespace

TEST_CASE("kernels of every family compile for sm_80 within their budget", "[nvrtc]") { compile_families("sm_80", 3); }
TEST_CASE("kernels of every family compile for sm_90a within their budget", "[nvrtc]") {
  compile_families("sm_90a", 8);
}
TEST_CASE("kernels of every family compile for sm_100 within their budget", "[nvrtc]") {
  compile_families("sm_100", 3);
}
TEST_CASE("kernels of every family compile for graphics chips within their budget", "[nvrtc]") {
  const char* const arch = GENERATE("sm_86", "sm_89", "sm_120");
  compile_families(arch, 8);
}
TEST_CASE("all kernels of every family compile within their budget", "[.full][nvrtc]") {
  for (const char* arch : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"}) compile_families(arch);
}
