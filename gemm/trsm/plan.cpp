#include "tallskinny/gemm/trsm/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

using Access = TrsmAccess;

constexpr int most_pieces = 4, most_bytes = 48;        // of a row that a thread holds whole
constexpr int tile_row_bytes = 64;                     // that a thread has under way at least
constexpr int staged_bytes = 64, in_place_bytes = 32;  // of the columns that are solved at once
constexpr int registers = 128;                         // of a thread, as far as blocks share a multiprocessor

/// What slows a policy down against the roof, on every architecture measured.
struct TrsmCostModel {
  double foreign_order = 8;  ///< a row-major X that is reached column by column
  double far_factor = 4;     ///< R is not in shared memory
  double few_rows = 64;      ///< over the rows that a multiprocessor has under way
};
constexpr TrsmCostModel cost_model;

/// The search space, the one that measurements favour first.
struct Choice {
  Access access;
  bool factor_shared;
  int threads;
};
constexpr Choice choices[] = {{Access::whole_rows, true, 128}, {Access::staged, true, 128},
                              {Access::staged, true, 64},      {Access::staged, true, 32},
                              {Access::in_place, true, 128},   {Access::in_place, false, 128}};

TrsmPolicy policy_of(const GpuProblem& problem, const Choice& choice, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const int size = static_cast<int>(size_of(pr.type)), p = static_cast<int>(pr.p);
  const bool whole = choice.access == Access::whole_rows, staged = choice.access == Access::staged;
  TrsmPolicy policy{pr.type, p, choice.access, choice.factor_shared, choice.threads};
  policy.columns = whole ? p : std::min(p, (staged ? staged_bytes : in_place_bytes) / size);
  if (whole) {
    const Piece piece = widest_piece(size_of(pr.type), problem.first, pr.p);
    policy.together = 2, policy.vector = piece.count, policy.alignment = piece.alignment;
  } else if (staged) {
    policy.together = static_cast<int>(std::max<index_t>(1, ceil_div(tile_row_bytes, pr.p * size)));
  }
  const int by_registers = std::max(1, 65536 / registers / policy.threads);
  const index_t by_shared = device.shared_bytes_per_multiprocessor / (policy.shared_bytes() + 1024);
  policy.blocks = static_cast<int>(std::clamp<index_t>(by_shared, 1, by_registers));
  return policy;
}

KernelPlan kernel_of(const TrsmPolicy& policy, index_t rows, const DeviceInfo& device) {
  KernelPlan plan = plan_of("trsm", policy);
  plan.grid = grid_of(ceil_div(rows, policy.tile_rows()), index_t{4} * policy.blocks * device.multiprocessors);
  plan.block = static_cast<unsigned>(policy.threads);
  plan.shared_bytes = static_cast<std::size_t>(policy.shared_bytes());
  plan.budget = {std::min(255, 65536 / (policy.threads * policy.blocks)), 0};
  return plan;
}

}  // namespace

std::vector<TrsmPolicy> trsm_policies(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  const bool row_major = problem.first.layout == Layout::row_major;
  const bool narrow = pr.p / widest_piece(size_of(pr.type), problem.first, pr.p).count <= most_pieces &&
                      pr.p * static_cast<index_t>(size_of(pr.type)) <= most_bytes;
  std::vector<TrsmPolicy> policies;
  for (const Choice& choice : choices) {
    if (choice.access != Access::in_place && !row_major) continue;
    if (choice.access == Access::whole_rows && !narrow) continue;
    const TrsmPolicy policy = policy_of(problem, choice, device);
    if (policy.shared_bytes() <= device.shared_bytes_per_block) policies.push_back(policy);
  }
  return policies;
}

std::vector<Candidate> trsm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::trsm || pr.p < 1 || scalar_bytes(pr.type) == 2) return {};
  const LeastTimes limits = least_times(pr, device);
  const double least = std::max(limits.memory_seconds, limits.arithmetic_seconds);
  std::vector<Candidate> candidates;
  for (const TrsmPolicy& policy : trsm_policies(problem, device)) {
    const bool own_order = policy.access != Access::in_place || problem.first.layout == Layout::col_major;
    const double penalty = (own_order ? 1.0 : cost_model.foreign_order) *
                           (policy.factor_shared ? 1.0 : cost_model.far_factor) *
                           (1.0 + cost_model.few_rows / static_cast<double>(policy.tile_rows() * policy.blocks));
    candidates.push_back({kernel_of(policy, pr.n, device), penalty * least + device.launch_seconds});
  }
  return candidates;
}

}  // namespace ts::inline v0::cuda
