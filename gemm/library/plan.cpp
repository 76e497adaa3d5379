#include "tallskinny/gemm/library/plan.hpp"

#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::cuda {

namespace {

Candidate candidate_of(const ProductPolicy& policy, const GpuProblem& problem, const DeviceInfo& device) {
  const LeastTimes limits = least_times(problem.problem, device);
  // Blocks on the diagonal are computed whole.
  const double panels = policy.panel > 0 ? static_cast<double>(problem.problem.q) / policy.panel : 1;
  const double share = problem.problem.operation == Operation::gram ? 1 + 1 / panels : 1;
  Candidate candidate{plan_of("cublas", policy),
                      std::max(limits.memory_seconds, share * limits.arithmetic_seconds) + device.launch_seconds};
  candidate.kernel.grid = 0;  // no kernel of ours
  return candidate;
}

}  // namespace

std::vector<Candidate> cublas_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool of_rows = pr.operation == Operation::gram || pr.operation == Operation::tsmttsm;
  const bool by_rows = pr.operation == Operation::tsmm || pr.operation == Operation::tsm2r;
  if ((!of_rows && !by_rows) || problem.determinism == Determinism::gpu_to_gpu || problem.parts > 0) return {};
  std::vector<Candidate> all;
  const auto add = [&](const ProductPolicy& policy) { all.push_back(candidate_of(policy, problem, device)); };
  if (by_rows) {
    if (pr.operation == Operation::tsm2r || size_of(pr.type) > 2) add({});
    return all;
  }
  for (const int panel : {0, 64, 128, 256, 512}) {
    if (panel > 0 && (pr.operation != Operation::gram || panel >= pr.p)) continue;
    if (result_type_of(pr.type) == DType::float64 || pr.type == DType::complex128) add({0, panel});
    for (const int slab_rows : {8192, 32768})
      if (slab_rows < pr.n) add({slab_rows, panel});
  }
  return all;
}

}  // namespace ts::cuda
