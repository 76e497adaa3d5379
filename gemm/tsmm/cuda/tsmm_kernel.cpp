#include "tallskinny/gemm/tsmm/cuda/tsmm_kernel.hpp"

#include <algorithm>

namespace ts::cuda {

std::vector<Candidate> tsmm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::tsmm && pr.operation != Operation::tsmm_in_place) return {};
  const BlockLimits block = limits_of(device, Determinism::run_to_run);  // rows are computed alone
  if (pr.n < 1 || pr.p < 1 || pr.q < 1 || std::max(pr.p, pr.q) > update_widest(pr.type, block)) return {};
  UpdateProblem update;
  update.type = pr.type, update.rows = pr.n, update.p = pr.p, update.q = pr.q,
  update.accumulate = pr.accumulate;
  update.x = tall_operand_of(problem.first, pr.type, pr.n, pr.p);
  update.y = tall_operand_of(problem.out, result_type_of(pr.type), pr.n, pr.q);
  const Limits limits = limits_of(pr, device);
  const double least = std::max(limits.memory_seconds, limits.arithmetic_seconds);
  const std::vector<UpdateTiling> tilings = update_tilings(update, block);
  std::vector<Candidate> candidates;
  constexpr std::size_t kept = 8;
  for (const UpdateTiling& tiling : tilings) {
    if (candidates.size() == kept) break;
    const double excess = 0.02 * (tiling.cost / tilings.front().cost - 1);
    candidates.push_back(
        {plan_update(update, block, tiling).kernel, least * (1 + excess) + device.launch_seconds});
  }
  return candidates;
}

}  // namespace ts::cuda
