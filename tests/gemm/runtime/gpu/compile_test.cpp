// Every kernel family compiled for every architecture, without a GPU: no spills, nothing beyond the budget.
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/device/policy.hpp"
#include "tallskinny/gemm/plan/typical_device.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

#include <algorithm>
#include <set>

#include "tallskinny/gemm/assign/exact/policy.hpp"
#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/assign/scores/plan.hpp"
#include "tallskinny/gemm/assign/scores/prepare_policy.hpp"
#include "tallskinny/gemm/assign/seeding/plan.hpp"
#include "tallskinny/gemm/assign/sums/plan.hpp"
#include "tallskinny/gemm/copy/copy_rows.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/parts.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/norms/plan.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/random/plan.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"
#include "tallskinny/gemm/spmm/plan.hpp"
#include "tallskinny/gemm/tsmm/plan.hpp"
#include "tallskinny/gemm/tsmttsm/plan.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

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
        cuda::GpuProblem p;
        p.problem = {op, type, rows, width, width};
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
  std::set<cuda::Defines> seen;
  const auto add = [&](const std::vector<cuda::GpuProblem>& problems) {
    for (const cuda::GpuProblem& problem : problems) {
      auto candidates = family.candidates(problem, device);
      const auto best = std::min_element(candidates.begin(), candidates.end(),
                                         [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
      if (best != candidates.end() && seen.insert(best->kernel.defines).second) plans.push_back(best->kernel);
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
    plans.push_back(cuda::plan_sum_parts(type, 1000));
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
  for (const std::size_t bytes : {2, 4, 8, 16})
    for (const bool from_rows : {false, true})
      plans.push_back(cuda::plan_convert(bytes, 8, from_rows, 1000000, 20, device));
  for (cuda::GpuProblem& problem : biting_problems(Operation::spmm, device.arch()))
    if (problem.problem.q <= cuda::spmm_widest(problem.problem.type))
      plans.push_back(cuda::spmm_long_plan(problem, 1000));
  // Products with a wide basis, in panels of widths of their own.
  for (const DType type : every_dtype)
    for (const index_t q : {16, 64}) {
      if (device.capability() != 90 && (q == 16 || size_of(type) % 8 != 0)) continue;
      cuda::GpuProblem problem;
      problem.problem = {Operation::tsmttsm, type, 1 << 22, 512, q};
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

void compile_plans(const std::string& arch, const std::vector<cuda::KernelPlan>& plans) {
  const auto shared = static_cast<std::size_t>(cuda::typical_device(arch).shared_bytes_per_block);
  std::vector<cuda::CompileJob> jobs;
  for (const cuda::KernelPlan& plan : plans) jobs.push_back(cuda::job_of(plan, arch));
  const auto compiled = cuda::compile_all(jobs);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    CHECK_NOTHROW(cuda::expect_within_budget(plans[i], compiled[i].attributes));
    CHECK(compiled[i].attributes.registers > 0);
    CHECK(plans[i].shared_bytes <= shared);
  }
}

/// What adds up the rows that change clusters: any type and width, in one piece or not, weighed or not.
void add_sums(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  const auto size = static_cast<int>(size_of(type));
  for (const auto& [d, alignment] :
       {std::pair<index_t, int>{1, size}, {3, size}, {6, 2 * size}, {20, 16}, {512, 16}, {769, size}})
    for (const bool weighed : {false, true})
      for (const bool plain : {true, false})
        if (plain || d == 769)
          plans.push_back(cuda::sums_add_plan({type, 1 << 20, d, plain, alignment}, weighed, 1 << 21, device));
}

/// What scores rows of up to 128 columns with many centroids, and confirms their labels.
void add_producers(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  const int size = static_cast<int>(size_of(type));
  for (const auto& [d, k] : {std::pair<index_t, index_t>{16, 4000},
                             {33, 3000},
                             {64, 1000},
                             {100, 1000},
                             {120, 600},
                             {128, 1000},
                             {128, 3000}})
    for (const auto& [settled, margin] : {std::pair{false, false}, {true, false}, {true, true}})
      for (const bool wide : {true, false})
        for (const int alignment : std::set{cuda::common_power(d * size, 16), size}) {
          if (!wide && type == DType::float64) continue;
          if (margin && alignment != size) continue;
          const cuda::AssignProblem p{{type, 1 << 22, d, true, alignment}, k, wide, false, settled, false, margin};
          const cuda::AssignPlans found = cuda::assign_plans(p, device);
          CHECK(found.scores->family == cuda::ScoreFamily::producers);
          CHECK(found.confirms == settled);
          plans.push_back(found.scores->kernel);
        }
}

/// The kernels of assign, which no Operation stands for.
std::vector<cuda::KernelPlan> assign_plans(const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> plans;
  const auto add = [&](cuda::AssignProblem p) {
    const cuda::AssignPlans found = cuda::assign_plans(p, device);
    if (found.scores) plans.push_back(found.scores->kernel);
    if (found.again) plans.push_back(found.again->kernel);
    plans.push_back(cuda::assign_prepare_plan(p, found));
    p.rows.plain = false;
    CHECK_FALSE(cuda::assign_plans(p, device).scores);
  };
  std::size_t turn = 0;
  for (const DType type : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    // float16 and bfloat16, one architecture and another differ little: half of the shapes show what does.
    const bool all = device.capability() == 90 && type == DType::float32;
    if (device.capability() != 90 && type == DType::bfloat16) continue;
    for (const auto& [d, k] : {std::pair<index_t, index_t>{1, 1},
                               {4, 16},
                               {8, 16},
                               {16, 16},
                               {16, 64},
                               {31, 9},
                               {32, 32},
                               {32, 256},
                               {48, 20},
                               {64, 64},
                               {64, 1024},
                               {128, 1000},
                               {100, 30},
                               {300, 40},
                               {784, 500},
                               {128, 100},
                               {512, 1000}}) {
      if (++turn % 2 == 0 && !all) continue;
      const int size = static_cast<int>(size_of(type));
      const int alignment = turn % 4 == 0 ? size : std::min(16, cuda::common_power(d * size, 16));
      add({{type, 1 << 22, d, true, alignment, turn % 3 == 0}, k, turn % 3 == 0 || type == DType::float64});
    }
    if (all) add({{type, 1 << 22, 256}, 1000, true});
    if (device.capability() == 90 && (all || type == DType::float16))  // rows as they are
      for (const auto& [d, k] :
           {std::pair<index_t, index_t>{4, 16}, {16, 16}, {16, 64}, {64, 64}, {128, 100}, {32, 256}}) {
        const cuda::AssignProblem p{{type, 1 << 22, d, true, 16, d != 16}, k, false, true};
        plans.push_back(cuda::assign_plans(p, device).scores->kernel);
      }
    if (all || type == DType::float16)  // with a margin
      for (const auto& [d, k] : {std::pair<index_t, index_t>{4, 16},
                                 {16, 64},
                                 {32, 256},
                                 {64, 64},
                                 {100, 300},
                                 {128, 100},
                                 {512, 1000},
                                 {768, 4096}})
        for (const bool as_are : {true, false}) {
          const cuda::AssignProblem p{{type, 1 << 22, d, true, 16, d != 16}, k, false, as_are, true, false, true};
          if (const auto found = cuda::assign_plans(p, device); found.scores) {
            plans.push_back(found.scores->kernel);
            CHECK(found.again);
          }
        }
    if (all || type == DType::float16)  // taken at their word
      for (const auto& [d, k] : {std::pair<index_t, index_t>{4, 16}, {16, 64}, {32, 256}, {64, 1024}, {512, 1000}}) {
        const cuda::AssignProblem p{{type, 1 << 22, d, true, 16, d != 16}, k, false, true, false, true};
        const cuda::AssignPlans found = cuda::assign_plans(p, device);
        CHECK_FALSE(found.again);
        if (found.scores) plans.push_back(found.scores->kernel);
      }
    if (all || type == DType::float16)  // their labels confirmed
      for (const auto& [d, k] : {std::pair<index_t, index_t>{4, 400}, {16, 200}, {32, 256}, {48, 136}, {64, 500}}) {
        const cuda::AssignPlans found =
            cuda::assign_plans({{type, 1 << 22, d, true, 16, d != 16}, k, false, true, true}, device);
        CHECK(found.confirms);
        plans.push_back(found.scores->kernel);
      }
    if (device.capability() == 90) add_producers(plans, type, device);
    plans.push_back(cuda::warps_plan("assign_decide", cuda::DecidePolicy{type}, 1000, device));
    plans.back().budget.shared_bytes = cuda::DecidePolicy::shared_bytes;
    plans.push_back(cuda::warps_plan("assign_gather", cuda::GatherPolicy{}, 1000, device));
    plans.push_back(cuda::warps_plan("assign_verify", cuda::VerifyPolicy{type}, 1000, device));
    add_sums(plans, type, device);
    using Round = cuda::MomentsRound;
    for (const Round round : {Round::sum, Round::spread, Round::first_not_finite})
      plans.push_back(cuda::threads_plan("assign_moments", cuda::MomentsPolicy{type, round}, 1000));
    for (const auto task : {cuda::DistancesTask::own, cuda::DistancesTask::inertia_of_chunks})
      plans.push_back(cuda::threads_plan("assign_distances", cuda::DistancesPolicy{type, task}, 1000));
    const bool wide = type == DType::float64;
    const auto coordinates = wide ? cuda::Coordinates::wide : cuda::Coordinates::direct;
    for (const auto& [lower, candidates] :
         {std::pair<bool, index_t>{true, 1}, {true, 12}, {false, 4}, {false, 8}, {false, 12}})
      plans.push_back(cuda::seed_distances_plan(lower, type, coordinates, candidates, 1000));
    plans.push_back(cuda::threads_plan("seed_gather", cuda::SeedGatherPolicy{type, wide}, 1000));
    plans.push_back(cuda::seed_labelled_plan(type, coordinates, 1000));
    plans.push_back(cuda::seed_labelled_plan(DType::float32, cuda::Coordinates::narrow, 1000));
  }
  const cuda::AssignProblem in_float64{{DType::float32, 1000, 200, false}, 3000};
  plans.push_back(cuda::assign_prepare_plan(in_float64, cuda::assign_plans(in_float64, device)));
  for (const bool put : {false, true})
    for (const index_t clusters : {1000, 1 << 20})
      plans.push_back(cuda::sums_sort_plan(put, clusters, 1 << 20, device));
  plans.push_back(cuda::sums_places_plan(1000));
  for (const bool move : {false, true}) plans.push_back(cuda::assign_means_plan(move, 1000));
  for (const bool wide : {false, true}) {
    plans.push_back(cuda::seed_draw_plan(wide, 1000));
    plans.push_back(cuda::threads_plan("seed_keep", cuda::SeedKeepPolicy{wide}, 1000));
    for (const index_t trials : {8, 16}) plans.push_back(cuda::seed_choose_plan(wide, trials, 1 << 14, 256, device));
  }
  for (const index_t counts : {1000, 100000}) plans.push_back(cuda::seed_count_plan(counts, 1 << 20, device));
  return plans;
}

void compile_families(const std::string& arch) {
  const cuda::DeviceInfo device = cuda::typical_device(arch);
  std::vector<cuda::KernelPlan> plans = shared_plans(device);
  for (const cuda::Family& family : cuda::families()) {
    const auto some = plans_of(family, device);
    INFO("family " << family.name);
    CHECK(some.empty() == (family.name == "tsmm_wide" && device.capability() < 90));
    plans.insert(plans.end(), some.begin(), some.end());
  }
  compile_plans(arch, plans);
}

}  // namespace

TEST_CASE("every kernel family compiles for sm_80 within its budget", "[nvrtc]") { compile_families("sm_80"); }
TEST_CASE("every kernel family compiles for sm_90a within its budget", "[nvrtc]") { compile_families("sm_90a"); }
TEST_CASE("every kernel family compiles for sm_100 within its budget", "[nvrtc]") { compile_families("sm_100"); }

TEST_CASE("the kernels of assign compile within their budget", "[assign][nvrtc]") {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100"}) compile_plans(arch, assign_plans(cuda::typical_device(arch)));
}

TEST_CASE("the attributes of a kernel are what the assembler reports", "[nvrtc]") {
  const auto compiled =
      cuda::compile(cuda::job_of(cuda::plan_of("scale", cuda::ScalePolicy{DType::float64, 2, 16}), "sm_90a"));
  CHECK(compiled.attributes.registers >= 8);
  CHECK(compiled.attributes.registers <= 64);
  CHECK(compiled.attributes.stack_bytes == 0);
  CHECK(compiled.cubin.substr(0, 4) == "\177ELF");
}

TEST_CASE("a program may carry kernels of its own, which are made of the library's parts", "[nvrtc]") {
  static constexpr cuda::Source own[] = {
      {"own/own_kernel.cuh",
       "#include \"own/own_part.cuh\"\nextern \"C\" __global__ void own_kernel(Element* x) { *x = "
       "own_number; "
       "}\n"},
      {"own/own_part.cuh", "#include \"tallskinny/gemm/device/element.cuh\"\nconstexpr int own_number = 1;\n"}};
  const cuda::SourceFiles beside = []() noexcept { return std::span<const cuda::Source>(own); };
  cuda::CompileJob job = cuda::job_of(cuda::plan_of("own_kernel", cuda::ScalePolicy{DType::float64, 2, 16}), "sm_90a");
  CHECK_THROWS_AS(cuda::compile(job), Error);
  job.beside = beside;
  CHECK(cuda::compile(job).attributes.registers > 0);
}

TEST_CASE("a budget that is exceeded is an error that names the kernel") {
  cuda::KernelPlan plan;
  plan.family = "some_kernel", plan.defines = {{"p", "8"}}, plan.block = 256, plan.budget.registers = 64;
  CHECK_NOTHROW(cuda::expect_within_budget(plan, {64, 0, 0, 0, 0}));
  for (const cuda::Attributes& excess : {cuda::Attributes{65, 0, 0, 0, 0}, cuda::Attributes{64, 1, 0, 0, 0},
                                         cuda::Attributes{64, 0, 8, 0, 0}, cuda::Attributes{64, 0, 0, 4, 0}}) {
    try {
      cuda::expect_within_budget(plan, excess);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(std::string(e.what()).find("some_kernel with p=8") == 0);
    }
  }
  plan.block = 1024, plan.budget.registers = 255;
  CHECK_THROWS_AS(cuda::expect_within_budget(plan, {65, 0, 0, 0, 0}), Error);
}

TEST_CASE("what does not compile is an error with the compiler's words", "[nvrtc]") {
  try {
    (void)cuda::compile(cuda::job_of(cuda::plan_of("scale", cuda::ScalePolicy{DType{17}, 1, 8}), "sm_90a"));
    FAIL("compiled");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("ElementOf") != std::string::npos);
  }
  CHECK_THROWS_AS(cuda::compile({"scale", {}, "sm_1"}), Error);
  CHECK_THROWS_AS(cuda::compile({"no_such_family", {}, "sm_90a"}), Error);
}
