#include "tallskinny/gemm/library/plan.hpp"

#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

Candidate candidate_of(const ProductPolicy& policy, const GpuProblem& problem, const DeviceInfo& device) {
  const LeastTimes limits = least_times(problem.problem, device);
  // Blocks on the diagonal are computed whole, but by a rank update.
  const double panels = policy.panel > 0 ? static_cast<double>(problem.problem.q) / policy.panel : 1;
  const bool twice = problem.problem.operation == Operation::gram && !policy.rank_update;
  const double share = twice ? 1 + 1 / panels : 1;
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
  const bool whole = pr.type == DType::float64 || pr.type == DType::complex128;  // may be added up by the library
  for (const int panel : {0, 64, 128, 256, 512}) {
    if (panel > 0 && (pr.operation != Operation::gram || panel >= pr.p)) continue;
    if (whole) add({0, panel});
    for (const int slab_rows : {8192, 32768})
      if (slab_rows < pr.n) add({slab_rows, panel});
  }
  constexpr index_t least_columns = 512;  // of 256 it takes two and a half times as long as blocks
  if (whole && pr.operation == Operation::gram && pr.p >= least_columns && problem.first.layout == Layout::row_major)
    add({0, 0, true});
  return all;
}

std::vector<Candidate> cusparse_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool by_rows = problem.second.layout == Layout::row_major && problem.out.layout == Layout::row_major;
  const bool conjugated = problem.op == Op::adjoint && parts_of(pr.type) == 2;
  constexpr index_t longest_that_repeats = 128;
  if (pr.operation != Operation::spmm || problem.determinism == Determinism::gpu_to_gpu || problem.shifted ||
      pr.accumulate || conjugated || !by_rows || problem.sparse.parts == 0 ||
      problem.sparse.longest > longest_that_repeats || (pr.index_bytes == 4 && pr.nonzeros > INT32_MAX))
    return {};
  Candidate candidate{plan_of("cusparse", SparsePolicy{}),
                      least_times(pr, device).memory_seconds + device.launch_seconds};
  candidate.kernel.grid = 0;
  return {std::move(candidate)};
}

}  // namespace ts::inline v0::cuda
