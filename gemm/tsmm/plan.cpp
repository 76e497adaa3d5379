#include "tallskinny/gemm/tsmm/plan.hpp"

#include <algorithm>

namespace ts::cuda {

std::vector<Candidate> tsmm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::tsmm && pr.operation != Operation::tsmm_in_place) return {};
  BlockLimits block = limits_of(device, Determinism::run_to_run);  // rows are computed alone
  block.warpgroups = block.warpgroups && problem.determinism != Determinism::gpu_to_gpu;
  if (pr.n < 1 || pr.p < 1 || pr.q < 1 || std::max(pr.p, pr.q) > update_widest(pr.type, block)) return {};
  UpdateProblem update;
  update.type = pr.type, update.rows = pr.n, update.p = pr.p, update.q = pr.q,
  update.accumulate = pr.accumulate;
  update.x = tall_operand_of(problem.first, pr.type, pr.n, pr.p);
  update.y = tall_operand_of(problem.out, result_type_of(pr.type), pr.n, pr.q);
  UpdateProblem chosen_for = update;  // a row's bits do not depend on how many others a slab has
  if (problem.determinism == Determinism::gpu_to_gpu) chosen_for.rows = index_t{1} << 40;
  return candidates_of(update_tilings(chosen_for, block), pr, device, block.shared_bytes,
                       [&](const UpdateTiling& tiling) { return plan_update(update, block, tiling).kernel; });
}

}  // namespace ts::cuda
