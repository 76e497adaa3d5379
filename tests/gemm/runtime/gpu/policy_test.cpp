#include "tallskinny/gemm/runtime/gpu/policy.hpp"

#include "tallskinny/gemm/copy/policy.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/random/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

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
  CHECK(program.find("    .vector = static_cast<decltype(ts::cuda::RandomFillPolicy::vector)>(4),\n") !=
        std::string::npos);
  CHECK(program.ends_with("#include \"tallskinny/gemm/random/kernels/random_fill.cuh\"\n"));
}

TEST_CASE("a policy with members that a kernel does not know is an error with the compiler's words", "[nvrtc]") {
  cuda::CompileJob job = cuda::job_of(cuda::plan_of("random_fill", cuda::RandomFillPolicy{}), "sm_90a");
  CHECK(cuda::compile(job).attributes.registers > 0);
  job.policy.members = "type, vectors, alignment";
  CHECK_THROWS_AS(cuda::compile(job), Error);
}
