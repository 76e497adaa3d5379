#include "tallskinny/gemm/tsmm/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/tsmm/cost_model.hpp"

namespace ts::inline v0::cuda {
namespace {

/// A policy, and the cycles of a multiprocessor for 16 rows that the model gives it.
struct ScoredTsmm {
  TsmmPolicy policy;
  double cost = 0;
};

/// What the policies of a problem have in common: widths and how the operands lie.
TsmmPolicy shape_of(DType type, index_t p, index_t q, const TallOperand& x, const TallOperand& y) {
  TsmmPolicy shape;
  shape.type = type, shape.p = static_cast<int>(p), shape.q = static_cast<int>(q);
  const TallLayout layout = layout_of(type, p, x);
  shape.mode_x = layout.mode, shape.pitch_x = layout.pitch;
  if (layout.mode == TallMode::by_columns) {
    shape.shift_x = layout.unit < 16;  // by units of 16 all the same
    shape.vector_x = x.address % static_cast<unsigned>(size_of(type)) == 0 ? shape.parts() : 1;
  } else {
    shape.shift_x = layout.shift, shape.unit_x = layout.unit;
    const int base = layout.mode == TallMode::flat ? static_cast<int>(x.address) : 0;
    for (int v = std::min(4, 16 / layout.scalar); v > 1 && shape.vector_x == 1; v /= 2)
      if (std::gcd(layout.row_bytes(1), base) % (v * layout.scalar) == 0 && layout.width % v == 0) shape.vector_x = v;
  }
  const index_t result = shape.result_bytes();
  shape.columns_y = y.column_stride != 1 && q > 1;
  const index_t line = result * (shape.columns_y ? y.column_stride : y.row_stride);
  shape.unit_y = static_cast<int>(std::gcd(std::gcd(index_t{16}, static_cast<index_t>(y.address)),
                                           std::gcd(line, shape.columns_y ? index_t{16} : q * result)));
  shape.bulk_y = y.row_stride == q && (y.column_stride == 1 || q == 1) && y.address % 16 == 0;
  return shape;
}

/// Numbers of a policy that its costs are made of.
struct TsmmWork {
  explicit TsmmWork(const TsmmPolicy& k)
      : scalar(k.scalar()),
        parts(k.parts()),
        by_columns(k.mode_x == TallMode::by_columns),
        lanes(k.worker == TsmmWorker::lane),
        warpgroup(k.worker == TsmmWorker::warpgroup),
        warps(std::min(k.warps(), warpgroup || (scalar == 8 && k.column_warps >= 4) ? 12 : 8)),
        rows(k.rows()),
        x_bytes(static_cast<double>(k.p * scalar * parts)),
        row_bytes(x_bytes + (k.accumulate ? 2 : 1) * static_cast<double>(k.q * k.result_bytes())),
        stages(static_cast<double>(k.slots) / k.groups) {}
  int scalar, parts;
  bool by_columns, lanes, warpgroup;
  int warps, rows;
  double x_bytes, row_bytes, stages;
};

/// What memory that wants few, long requests takes more.
double asking_of(const TsmmPolicy& k, const TsmmWork& w, const TsmmCostModel& m) {
  if (w.by_columns) return 1;
  return (1 + m.short_chunk * std::max(0.0, m.wanted_chunk_kib - w.x_bytes * w.rows / 1024)) *
         (1 + m.asking_teams * std::pow(k.teams - 1, m.asking_teams_power)) *
         std::pow(8.0 / std::min(k.warps(), 8), m.asking_warps_power);
}

double memory_of(const TsmmPolicy& k, const TsmmWork& w, const TsmmCostModel& m) {
  const double loading = w.x_bytes * w.rows * k.groups * (w.stages - 1);
  const double for_columns = (w.lanes ? m.lanes_for_columns : m.warps_for_columns) / w.warps;
  const double enough = m.enough_in_flight * w.x_bytes / w.row_bytes * (w.by_columns ? for_columns : 1);
  const double turns = m.ticket_cycles / w.rows, wait = m.waiting_stages / w.stages;
  const double short_columns = w.by_columns ? 1 + m.short_columns * (1 + k.teams) / (w.rows * w.scalar * w.parts) : 1;
  return short_columns * asking_of(k, w, m) *
         std::max(16 * w.row_bytes / m.bytes_per_cycle * std::max(1.0, enough / loading), turns) *
         (1 + (w.by_columns ? 0 : m.spread) * std::max(0.0, loading - m.much_in_flight)) *
         (1 + m.waiting * (k.teams - 1) * wait * wait);
}

double tensor_of(const TsmmPolicy& k, const TsmmWork& w, const TsmmCostModel& m) {
  const auto blocks = static_cast<double>(k.column_blocks()), k_blocks = static_cast<double>(k.k_blocks());
  const bool wide = w.scalar == 8;
  const double instructions = w.warpgroup ? m.warpgroup_instructions
                              : k.split() ? m.split_instructions
                                          : m.float64_instructions;
  const double tensor = k_blocks * blocks * w.parts * instructions;
  const int scattered = k.vector_x == 1 ? 2 : k.vector_x * w.scalar < 8 ? 1 : 0;
  const double converted = k.split() ? m.splitting : w.scalar == 4 ? m.widening : m.widening_short;
  const double convert =
      (wide ? 0 : converted) + (w.by_columns ? m.by_columns : 0) + (wide ? 0 : m.scattered * scattered);
  const double shared = (w.warpgroup ? 0 : m.factor_load * k_blocks * blocks / k.tiles) +
                        (m.row_load + convert) * k_blocks * k.column_warps;
  const double sharing = wide && w.parts == 2 ? m.sharing_complex128 * (k.column_warps - 1) * k.tiles : 0;
  return ((m.instruction * tensor + shared + (wide ? 0 : m.narrow_start)) *
              std::pow(8.0 / w.warps, m.fewer_warps_power) +
          sharing) *
         (1 + (sharing > 0 ? 0 : m.sharing) * (k.column_warps - 1)) *
         (1 + (w.stages < 4 ? m.teams_of_few_stages : m.teams_of_stages) * (k.teams - 1));
}

double lanes_of(const TsmmPolicy& k, const TsmmWork& w, const TsmmCostModel& m, double memory) {
  if (std::max(k.p, k.q) * w.parts <= 8) return m.lane_of_memory * memory;
  const double products = static_cast<double>(k.p * k.q) * w.parts;
  const double moves = m.lane_move * (w.x_bytes / w.scalar + m.lane_stores * static_cast<double>(k.q) * w.parts) *
                       (k.pitch_x * w.scalar % 32 == 0 ? m.lane_conflict : 1);
  return m.lane_product * products * w.parts + m.lane_factor * products / k.tiles + moves;
}

/// The model for a device: an H100's, with memory and instructions as fast as this one's.
TsmmCostModel model_of(const BlockLimits& limits) {
  TsmmCostModel m = limits.few_requests ? tsmm_cost_of_few_requests : tsmm_cost;
  m.bytes_per_cycle *= limits.memory, m.multiprocessors = limits.multiprocessors;
  m.float64_instructions *= limits.float64, m.split_instructions *= limits.split;
  return m;
}

double cost_of(const TsmmPolicy& k, index_t rows, const TsmmCostModel& m) {
  const TsmmWork w(k);
  const double memory = memory_of(k, w, m);
  const double arithmetic = w.lanes ? lanes_of(k, w, m, memory) : tensor_of(k, w, m);
  const double steady = std::pow(std::pow(memory, 4) + std::pow(arithmetic, 4), 0.25);

  const double share = static_cast<double>(rows) / m.multiprocessors, held = k.slots * w.rows;
  const double busiest = std::ceil(share / w.rows) * w.rows;
  const double later = std::max(0.0, std::min(share * w.x_bytes, m.most_loaded) - held * w.x_bytes);
  const double start = arithmetic / 16 * (m.first_slots * std::min(share, held) + busiest - share) +
                       m.late * later / m.bytes_per_cycle + m.group_cycles * k.groups;
  return steady + 16 * start / share;
}

/// Policies that are tried: each combination of these.
struct TsmmSpace {
  TsmmWorker worker;
  Arithmetic arithmetic;
  std::span<const int> tiles, column_warps, teams, warps;
  bool last_resort = false;  ///< only where no earlier one fits
};
constexpr int one[] = {1}, four[] = {4}, powers[] = {1, 2, 4, 8}, more_powers[] = {1, 2, 4, 8, 16};
constexpr int warp_counts[] = {8, 16, 12, 4}, few_warps[] = {2, 1}, warpgroup_warps[] = {12, 16, 8};
constexpr TsmmSpace spaces[] = {
    {TsmmWorker::warpgroup, Arithmetic::split, one, one, four, warpgroup_warps},
    {TsmmWorker::warpgroup, Arithmetic::split, one, one, four, four, true},
    {TsmmWorker::warp, Arithmetic::float64, more_powers, powers, powers, warp_counts},
    {TsmmWorker::warp, Arithmetic::split, more_powers, powers, powers, warp_counts},
    {TsmmWorker::lane, Arithmetic::float64, more_powers, one, powers, warp_counts},
    {TsmmWorker::warp, Arithmetic::float64, one, powers, powers, few_warps, true},
};

/// Whether workers of a space serve a shape at all.
bool serves(const TsmmSpace& space, const TsmmPolicy& shape, const BlockLimits& limits) {
  constexpr const TsmmLimits& m = tsmm_limits;
  const int scalar = shape.scalar(), p = shape.p * shape.parts(), q = shape.q * shape.parts();
  const int least_split = scalar == 2 ? m.least_split_half : m.least_split_float32;
  if (space.arithmetic == Arithmetic::split && (scalar == 8 || p < least_split)) return false;
  if (space.worker == TsmmWorker::warpgroup) return scalar == 4 && limits.warpgroups && q <= m.widest_warpgroup;
  if (space.worker == TsmmWorker::warp) return std::max(p, q) > m.widest_by_lanes;
  return std::max(p, q) <= (scalar == 8 ? m.widest_lane_float64 : m.widest_lane) && p * q <= m.largest_lane_factor;
}

/// The policy with as many slots as fit; false: fewer than two a group.
bool fit_slots(TsmmPolicy& k, const BlockLimits& limits) {
  if (k.registers_needed() > register_cap(k.warps())) return false;
  k.slots = tsmm_limits.most_slots * k.groups;
  while (k.slots >= 2 * k.groups && k.shared_bytes() > limits.shared_bytes) --k.slots;
  if (k.slots < 2 * k.groups) return false;
  const bool warpgroup = k.worker == TsmmWorker::warpgroup;
  k.lag = k.slots < (warpgroup ? tsmm_limits.slots_to_lag_warpgroup : tsmm_limits.slots_to_lag) * k.groups ? 0 : 1;
  return true;
}

void add_space(std::vector<ScoredTsmm>& all, const TsmmSpace& space, const TsmmPolicy& shape, index_t rows,
               const BlockLimits& limits, const TsmmCostModel& model) {
  if (!serves(space, shape, limits) || (space.last_resort && !all.empty())) return;
  for (const int tiles : space.tiles)
    for (const int column_warps : space.column_warps)
      for (const int teams : space.teams)
        for (const int warps : space.warps) {
          if (warps % (column_warps * teams) != 0 || column_warps > shape.column_blocks()) continue;
          TsmmPolicy k = shape;
          k.worker = space.worker, k.arithmetic = space.arithmetic;
          k.tiles = tiles, k.column_warps = column_warps, k.teams = teams;
          k.groups = warps / (column_warps * teams);
          k.bulk_y = shape.bulk_y && k.team_rows() * k.q * k.result_bytes() % 16 == 0;
          if (fit_slots(k, limits)) all.push_back({k, cost_of(k, rows, model)});
        }
}

/// Of policies that cost the same: warpgroups, warps, lanes; float64; smaller pieces; 8 warps, then most.
auto preference_of(const TsmmPolicy& k) {
  return std::tuple(-static_cast<int>(k.worker), k.arithmetic, k.tiles, k.column_warps, k.teams, k.warps() != 8,
                    -k.warps());
}

/// Every policy that fits into registers and shared memory, best first.
std::vector<ScoredTsmm> ranked(const TsmmPolicy& shape, index_t rows, const BlockLimits& limits,
                               const TsmmCostModel& model) {
  std::vector<ScoredTsmm> all;
  for (const TsmmSpace& space : spaces) add_space(all, space, shape, rows, limits, model);
  std::sort(all.begin(), all.end(), [](const ScoredTsmm& a, const ScoredTsmm& b) {
    return a.cost != b.cost ? a.cost < b.cost : preference_of(a.policy) < preference_of(b.policy);
  });
  return all;
}

KernelPlan kernel_of(const TsmmPolicy& k, index_t rows, const BlockLimits& limits) {
  KernelPlan plan = plan_of("tsmm", k);
  const index_t chunks = (rows + k.rows() - 1) / k.rows();
  plan.grid = static_cast<unsigned>(std::clamp<index_t>(chunks, 1, limits.multiprocessors));
  plan.block = static_cast<unsigned>(k.threads());
  // Blocks of two kernels that overlap would gather on some multiprocessors if both had room there.
  plan.shared_bytes = static_cast<std::size_t>(std::max(k.shared_bytes(), limits.shared_bytes / 2 + 1024));
  plan.overlaps = true;
  plan.budget.registers = register_cap(k.warps());
  return plan;
}

/// The time of the products that X S is cut into where no kernel takes it all: blocks of Y, for each all of X by
/// tsmm_wide.cuh, else panels, after the first of which Y is added to.
std::vector<Candidate> pieces_of(const GpuProblem& problem, const DeviceInfo& device, index_t most) {
  const Problem& pr = problem.problem;
  const auto seconds = [&](index_t p, index_t q, bool accumulate, auto& candidates) {
    GpuProblem piece = problem;
    piece.problem.p = p, piece.problem.q = q, piece.problem.accumulate |= accumulate;
    piece.first = form_among(problem.first, p, pr.p, pr.type);
    piece.out = form_among(problem.out, q, pr.q, result_type_of(pr.type));
    const double slower = p < pr.p || piece.out.alignment < 16 ? pieces_off_lines : pieces_in_lines;
    const auto some = candidates(piece, device);
    return some.empty() ? 0 : slower * some.front().seconds;
  };
  const index_t blocks = ceil_div(pr.q, wide_widest(pr.type)), block = ceil_div(pr.q, blocks);
  double all = static_cast<double>(blocks) * seconds(pr.p, block, false, wide_candidates);
  if (all > 0 && blocks == 1) return {};  // one kernel
  if (all == 0) {
    const index_t panels = ceil_div(pr.p, most), columns = ceil_div(block, most);
    const index_t p = ceil_div(pr.p, panels), q = ceil_div(block, columns);
    all = static_cast<double>(blocks * columns) *
          (seconds(p, q, false, tsmm_candidates) +
           static_cast<double>(panels - 1) * seconds(p, q, true, tsmm_candidates));
  }
  return {in_pieces("tsmm", all)};
}

}  // namespace

std::vector<Candidate> tsmm_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::tsmm && pr.operation != Operation::tsmm_in_place) return {};
  BlockLimits block = limits_of(device, Determinism::run_to_run);  // rows are computed alone
  const bool everywhere = problem.determinism == Determinism::gpu_to_gpu;
  block.warpgroups = block.warpgroups && !everywhere;
  if (pr.n < 1 || pr.p < 1 || pr.q < 1) return {};
  if (const index_t most = tsmm_widest(pr.type, block); std::max(pr.p, pr.q) > most)
    return pr.operation == Operation::tsmm ? pieces_of(problem, device, most) : std::vector<Candidate>{};
  TsmmPolicy shape = shape_of(pr.type, pr.p, pr.q, tall_operand_of(problem.first, pr.type, pr.n, pr.p),
                              tall_operand_of(problem.out, result_type_of(pr.type), pr.n, pr.q));
  shape.accumulate = pr.accumulate;
  // A row's bits do not depend on how many others a slab has, nor on the device. Costs of 16-bit numbers rank alone.
  const TsmmCostModel model = everywhere ? tsmm_cost : model_of(block);
  const double rows = scalar_bytes(pr.type) == 2 ? 0 : static_cast<double>(pr.n) / 16 / device.multiprocessors;
  return candidates_of(
      ranked(shape, everywhere ? index_t{1} << 40 : pr.n, block, model), pr, device, block.shared_bytes,
      [&](const ScoredTsmm& scored) { return rows * scored.cost / device.clock; },
      [&](const ScoredTsmm& scored) { return kernel_of(scored.policy, pr.n, block); });
}

index_t tsmm_widest(DType type, const BlockLimits& limits) {
  for (const index_t scalars : {128, 96, 64}) {
    const index_t w = scalars / parts_of(type), rows = 1 << 20;
    const TallOperand by_columns{1, rows, 0}, by_rows{4 * w, 1, static_cast<unsigned>(scalar_bytes(type))};
    const auto fits = [&](const TallOperand& x) {
      TsmmPolicy shape = shape_of(type, w, w, x, by_columns);
      shape.accumulate = true;
      return !ranked(shape, rows, limits, tsmm_cost).empty();
    };
    if (fits(by_columns) && fits(by_rows)) return w;
  }
  return 32 / parts_of(type);
}

}  // namespace ts::inline v0::cuda
