// Kernels compiled without a GPU: no spills, nothing beyond the budget.
#pragma once

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

/// The first kernel of each family and every `every`-th after it. Hidden cases compile all of them, which
/// tests/large.sh runs: a kernel takes from a quarter of a second to a second.
inline std::vector<cuda::KernelPlan> some_of(const std::vector<cuda::KernelPlan>& plans, int every) {
  std::vector<cuda::KernelPlan> some;
  std::map<std::string_view, int> seen;
  for (const cuda::KernelPlan& plan : plans)
    if (seen[plan.family]++ % every == 0) some.push_back(plan);
  return some;
}

inline void compile_plans(const std::string& arch, const std::vector<cuda::KernelPlan>& plans) {
  const auto shared = static_cast<std::size_t>(cuda::typical_device(arch).shared_bytes_per_block);
  std::vector<cuda::CompileJob> jobs;
  for (const cuda::KernelPlan& plan : plans) jobs.push_back(cuda::job_of(plan, arch));
  const auto compiled = cuda::compile_all(jobs);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    INFO(arch << ' ' << plans[i].family << ' ' << plans[i].policy.name);
    CHECK_NOTHROW(cuda::expect_within_budget(plans[i], compiled[i].attributes));
    CHECK(compiled[i].attributes.registers > 0);
    CHECK(plans[i].shared_bytes <= shared);
  }
}

}  // namespace ts::test
