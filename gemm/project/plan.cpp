#include "tallskinny/gemm/project/plan.hpp"

#include <algorithm>
#include <tuple>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/project/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {
namespace {

/// What is known before the work is shared out among warps.
struct ProjectShape {
  index_t rows = 0, parts = 0;
  TallOperand v, w;
  ProjectPolicy policy = {};  ///< type, steps, widths and how V and W lie
};

/// The shape with what follows from how its operands lie.
ProjectShape laid_out(ProjectShape s) {
  ProjectPolicy& policy = s.policy;
  const TallLayout v = layout_of(policy.type, policy.p, s.v), w = layout_of(policy.type, policy.q, s.w);
  policy.mode_v = v.mode, policy.pitch_v = v.pitch, policy.unit_v = v.unit, policy.shift_v = v.shift;
  policy.mode_w = w.mode, policy.pitch_w = w.pitch, policy.unit_w = w.unit, policy.shift_w = w.shift;
  policy.parts = s.parts > 0;
  const unsigned base = v.mode == TallMode::flat ? v.address : 0;
  for (int n = 16 / v.scalar; n > 1 && policy.vector_v == 1; n /= 2)
    if (v.mode != TallMode::by_columns && v.row_bytes(1) % (n * v.scalar) == 0 && v.width % n == 0 &&
        base % static_cast<unsigned>(n * v.scalar) == 0)
      policy.vector_v = n;
  return s;
}

ProjectShape project_shape(const GpuProblem& problem) {
  const Problem& pr = problem.problem;
  ProjectShape s{pr.n, problem.parts, {}, tall_operand_of(problem.second, pr.type, pr.n, pr.q)};
  s.policy.type = pr.type;
  s.policy.update = pr.operation == Operation::project_out && pr.p > 0;
  s.policy.inner = pr.wants_inner && pr.p > 0, s.policy.gram = pr.wants_gram;
  s.policy.p = static_cast<int>(std::max<index_t>(1, pr.p)), s.policy.q = static_cast<int>(pr.q);
  s.v = pr.p > 0 ? tall_operand_of(problem.first, pr.type, pr.n, pr.p) : s.w;
  return laid_out(s);
}

// The search space. Of candidates of equal cost the one that comes first in these lists, read from left to right,
// counts as the better one.
constexpr int tiles_of_chunk[] = {1, 2, 4, 8, 16}, group_sides[] = {1, 2, 4, 8}, warps_of_block[] = {8, 16, 4};
constexpr int most_project_stages = 6, most_tiles_of_warp = 18, two_for_each_scheduler = 8;
constexpr int kept_free = 1024;      ///< bytes of shared memory
constexpr index_t widest_v = 4096;   ///< columns of a launch
constexpr index_t narrowest_w = 16;  ///< scalars of a panel: narrower ones would read V again and again

/// Cycles of a multiprocessor for 16 rows. What takes longest counts whole, other work in part.
struct ProjectCosts {
  double bytes_a_cycle;    ///< that memory gives
  double chunk_start;      ///< bytes that could have been read while a chunk begins
  double bytes_in_flight;  ///< that keep memory busy
  double stages_waiting;   ///< of a ring, on the average: those that are being used
  double tensor;           ///< a product of 16 x 8 by 16
  double update_loads, k_loads, left_loads,
      right_loads;                  ///< instructions, of each product and of each fragment
  double tensor_slack;              ///< by which instructions that wait for each other take longer
  double load_cycles;               ///< of one instruction
  double tensor_share, load_share;  ///< that is not hidden
  double few_warps;                 ///< fewer than two for each scheduler
  double meeting;                   ///< for each warp that a group has beside the first
};
/// As measured on an H100 (docs/notes/project.md); the ranking is the same for all devices.
constexpr ProjectCosts costs{12, 1024, 48 * 1024, 1.5, 16, 4, 8, 8, 4, 1.3, 2, 0.2, 0.1, 1.2, 0.03};

/// Registers beside the sums of the products and of the update and their fragments, as compiled without spills.
struct ProjectRegisters {
  int update = 24, products = 16;  ///< fragments that both wait for
  int beside = 56;
  int scattered = 32;  ///< copies unit by unit and rows that are strided keep more addresses
  int parts = 32;      ///< what depends on the part is in no constants
};

/// What a thread will need: the sums of the products, and those and the fragments of the update.
int registers_needed(const ProjectPolicy& p) {
  constexpr ProjectRegisters r;
  const int parts = parts_of(p.type), tiles = p.warp_tiles(), blocks = p.warp_blocks();
  const int kept = p.has_products() ? 8 * tiles * blocks + 2 * tiles + blocks : 0;
  const int update = p.update ? 8 * p.at_once() * parts + 8 * parts + r.update : 0;
  const bool scattered = p.mode_w != TallMode::flat || (p.uses_v() && p.mode_v != TallMode::flat);
  return kept + std::max(update, p.has_products() ? 8 * blocks + r.products : 0) + r.beside +
         (scattered ? r.scattered : 0) + (p.parts ? r.parts : 0);
}

double cost_of(const ProjectPolicy& p, const ProjectCosts& c) {
  const int parts = parts_of(p.type);
  const double row_bytes =
      scalar_bytes(p.type) * parts * (p.p * (p.uses_v() ? 1.0 : 0.0) + p.q * (p.update ? 2.0 : 1.0));
  const double memory = 16 * row_bytes / c.bytes_a_cycle;
  const double updates = p.update ? p.k_blocks() * p.column_blocks() * parts : 0;
  const double products = p.warp_tiles() * p.group_left * p.warp_blocks() * p.group_right;
  const double tensor = c.tensor * (updates + products);
  const double widen = scalar_bytes(p.type) == 8 ? 1 : 2;
  const double loads =
      updates * c.update_loads + (p.update ? c.k_loads * widen * p.k_blocks() : 0) +
      widen * p.group_left * p.group_right * (c.left_loads * p.warp_tiles() + c.right_loads * p.warp_blocks());
  const double chunk_bytes = 16.0 * p.tiles * row_bytes;
  const double in_flight = std::min(1.0, p.groups * (p.stages - c.stages_waiting) * chunk_bytes / c.bytes_in_flight);
  // Few rows in a chunk leave warps of a group without work in the update.
  const int runs_of_tile = (p.column_blocks() * parts + 3) / 4;
  const double runs = p.tiles * runs_of_tile, group_warps = p.group_warps();
  const double idle = p.update ? std::max(1.0, group_warps / runs) : 1.0;
  const double cost = std::max({memory * (1 + c.chunk_start / chunk_bytes) / in_flight, tensor * c.tensor_slack * idle,
                                loads * c.load_cycles}) +
                      c.tensor_share * tensor * idle + c.load_share * loads;
  return cost * ((p.warps() < two_for_each_scheduler ? c.few_warps : 1) * (1 + c.meeting * (group_warps - 1)));
}

struct ProjectCandidate {
  ProjectPolicy policy;
  double cost = 0;
  int turn = 0;  ///< place in the search space
};

/// The policy with as many stages as find room; false where it does not fit.
bool fits(ProjectPolicy& p, const BlockLimits& limits) {
  if ((p.left_tiles() > 0 && p.group_left > p.left_tiles()) || p.group_right > p.right_blocks() ||
      p.warp_tiles() * p.warp_blocks() > most_tiles_of_warp || registers_needed(p) > register_cap(p.warps()))
    return false;
  const int most = limits.shared_bytes - kept_free;
  for (p.stages = most_project_stages; p.stages > 2 && p.shared_bytes() > most;) --p.stages;
  return p.shared_bytes() <= most;
}

/// Every policy that fits into registers and shared memory, best first.
std::vector<ProjectCandidate> candidates_for(const ProjectShape& shape, const BlockLimits& limits) {
  std::vector<ProjectCandidate> all;
  int turn = 0;
  for (const int tiles : tiles_of_chunk)
    for (const int left : group_sides)
      for (const int right : group_sides)
        for (const int warps : warps_of_block) {
          if (left * right > warps) continue;
          ProjectPolicy p = shape.policy;
          p.tiles = tiles, p.group_left = left, p.group_right = right, p.groups = warps / (left * right);
          if (fits(p, limits)) all.push_back({p, cost_of(p, costs), ++turn});
        }
  std::sort(all.begin(), all.end(),
            [](const auto& x, const auto& y) { return std::tie(x.cost, x.turn) < std::tie(y.cost, y.turn); });
  return all;
}

KernelPlan plan_with(ProjectPolicy p, const ProjectShape& shape, const BlockLimits& limits) {
  const bool contiguous = shape.w.row_stride == p.q && (shape.w.column_stride == 1 || p.q == 1);
  p.bulk_w = contiguous && shape.w.address % 16 == 0 && p.mode_w == TallMode::flat && p.w().sub_bytes() % 16 == 0;
  KernelPlan k = plan_of("project", p);
  k.grid = grid_of(ceil_div(ceil_div(shape.rows, p.chunk_rows()), p.groups), limits.multiprocessors);
  k.block = static_cast<unsigned>(p.threads());
  k.shared_bytes = static_cast<std::size_t>(p.shared_bytes());
  const index_t results = ((p.inner ? p.p : 0) + (p.gram ? p.q : 0)) * index_t{p.q};
  const int blocks = static_cast<int>(k.grid), group = group_size_of(blocks);
  k.workspace_bytes =
      static_cast<std::size_t>((blocks + ceil_div(blocks, group)) * results * parts_of(p.type)) * sizeof(double);
  const index_t parts = std::max<index_t>(1, shape.parts);
  k.grid *= static_cast<unsigned>(parts), k.workspace_bytes *= static_cast<std::size_t>(parts);
  k.budget = {register_cap(p.warps()), 1024};
  return k;
}

}  // namespace

ProjectPanels project_panels(DType type, index_t p, index_t q, const BlockLimits& limits, bool in_parts) {
  const auto fit = [&](index_t v, index_t w) {
    // However they lie: by columns and by unaligned rows.
    if (v > widest_v) return false;
    const auto odd = static_cast<unsigned>(scalar_bytes(type));
    const TallOperand columns{1, 1 << 20, 0};
    for (const auto& [of_v, of_w] : {std::pair{columns, columns}, {{4 * v, 1, odd}, {4 * w, 1, odd}}}) {
      ProjectShape shape{1 << 20, in_parts ? 1 : 0, of_v, of_w};
      shape.policy.type = type, shape.policy.update = shape.policy.inner = shape.policy.gram = true;
      shape.policy.p = static_cast<int>(v), shape.policy.q = static_cast<int>(w);
      if (candidates_for(laid_out(shape), limits).empty()) return false;
    }
    return true;
  };
  const auto share = [](index_t columns, index_t panels) { return std::max<index_t>(1, ceil_div(columns, panels)); };
  for (index_t w_panels = 1;; ++w_panels) {
    const index_t w = share(q, w_panels);
    const bool last = w * parts_of(type) <= narrowest_w;  // V is cut before W is cut further
    for (index_t v_panels = 1; v_panels == 1 || (last && v_panels <= p); ++v_panels) {
      // Panels of W stand for V, too, where W is cut.
      const index_t v = share(p, v_panels);
      if (fit(w_panels > 1 ? std::max(v, w) : v, w)) return {v, w};
    }
    if (w == 1) return {1, 1};
  }
}

std::vector<Candidate> project_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::inner_and_gram && pr.operation != Operation::project_out) return {};
  if (pr.n < 1 || pr.p < 0 || pr.q < 1 || pr.p > widest_v || scalar_bytes(pr.type) == 2) return {};
  const ProjectShape shape = project_shape(problem);
  if (!shape.policy.uses_v() && !shape.policy.gram) return {};
  const BlockLimits limits = part_limits_of(device, problem, 1);
  return candidates_of(
      candidates_for(shape, limits), pr, device, limits.shared_bytes,
      [&](const ProjectCandidate& c) {
        return c.cost * static_cast<double>(pr.n) / 16 / device.multiprocessors / device.clock;
      },
      [&](const ProjectCandidate& c) { return plan_with(c.policy, shape, limits); });
}

}  // namespace ts::inline v0::cuda
