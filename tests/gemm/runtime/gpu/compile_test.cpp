#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/copy/policy.hpp"
#include "tallskinny/gemm/device/policy.hpp"
#include "tallskinny/gemm/random/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_pack.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/test.hpp"

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

TEST_CASE("a pack has kernels under the key by which a program looks for them", "[nvrtc]") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "kernels.pack";
  const cuda::CompileJob job = cuda::job_of(cuda::plan_of("scale", cuda::ScalePolicy{DType::float64, 2, 16}), "sm_90a");
  cuda::CompileJob other = job;
  other.arch = "sm_80";
  cuda::write_kernel_pack(file, {&job, 1});
  const cuda::KernelPack pack(file);
  CHECK(pack.size() == 1);
  CHECK(pack.compiler() == cuda::compiler_version());
  const auto found = cuda::find_in(pack, job);
  REQUIRE(found);
  CHECK(found->origin == cuda::KernelOrigin::pack);
  const cuda::Compiled compiled = cuda::compile(job);
  CHECK(found->cubin == compiled.cubin);
  CHECK(found->attributes == compiled.attributes);
  CHECK_FALSE(cuda::find_in(pack, other));
  ::setenv("TALLSKINNY_NVRTC_OPTIONS", "-lineinfo", 1);
  CHECK_FALSE(cuda::find_in(pack, job));
  ::unsetenv("TALLSKINNY_NVRTC_OPTIONS");
}

TEST_CASE("a budget that is exceeded is an error that names the kernel") {
  cuda::KernelPlan plan;
  plan.family = "some_kernel", plan.policy.members = "p", plan.members = {8}, plan.block = 256,
  plan.budget.registers = 64;
  CHECK_NOTHROW(cuda::expect_within_budget(plan, {64, 0, 8, 0, 0}));
  for (const cuda::Attributes& excess : {cuda::Attributes{65, 0, 0, 0, 0}, cuda::Attributes{64, 1, 0, 0, 0},
                                         cuda::Attributes{64, 0, 16, 0, 0}, cuda::Attributes{64, 0, 0, 4, 0}}) {
    const auto said = message_of([&] { cuda::expect_within_budget(plan, excess); });
    CHECK(said.starts_with("some_kernel with p=8"));
  }
  plan.block = 1024, plan.budget.registers = 255;
  CHECK_THROWS_AS(cuda::expect_within_budget(plan, {65, 0, 0, 0, 0}), Error);
}

TEST_CASE("what does not compile is an error with the compiler's words", "[nvrtc]") {
  const auto wrong = cuda::job_of(cuda::plan_of("scale", cuda::ScalePolicy{DType{17}, 1, 8}), "sm_90a");
  CHECK(mentions(message_of([&] { (void)cuda::compile(wrong); }), "ElementOf"));
  CHECK_THROWS_AS(cuda::compile({"scale", {}, "sm_1"}), Error);
  CHECK_THROWS_AS(cuda::compile({"no_such_family", {}, "sm_90a"}), Error);
}

TEST_CASE("a policy is numbers in a plan, and reads back") {
  const cuda::RandomFillPolicy policy{DType::float32, 4, 16};
  const cuda::KernelPlan plan = cuda::plan_of("random_fill", policy);
  CHECK(cuda::defines_of(plan) == cuda::Defines{{"type", "2"}, {"vector", "4"}, {"alignment", "16"}});
  CHECK(cuda::policy_of<cuda::RandomFillPolicy>(plan) == policy);
  CHECK_THROWS_AS(cuda::policy_of<cuda::CopyRowsPolicy>(plan), Error);
}

TEST_CASE("a kernel is compiled from its policy and its file") {
  const cuda::KernelPlan plan = cuda::plan_of("random_fill", cuda::RandomFillPolicy{DType::float32, 4, 16});
  const std::string program = cuda::program_of(cuda::job_of(plan, "sm_90a"));
  CHECK(program.find("#include \"tallskinny/gemm/random/policy.hpp\"\nconstexpr ts::cuda::RandomFillPolicy policy{") ==
        0);
  CHECK(mentions(program, "    .vector = static_cast<decltype(ts::cuda::RandomFillPolicy::vector)>(4),\n"));
  CHECK(program.ends_with("#include \"tallskinny/gemm/random/kernels/random_fill.cuh\"\n"));
}

TEST_CASE("a policy with members that a kernel does not know is an error with the compiler's words", "[nvrtc]") {
  cuda::CompileJob job = cuda::job_of(cuda::plan_of("random_fill", cuda::RandomFillPolicy{}), "sm_90a");
  CHECK(cuda::compile(job).attributes.registers > 0);
  job.policy.members = "type, vectors, alignment";
  CHECK_THROWS_AS(cuda::compile(job), Error);
}
