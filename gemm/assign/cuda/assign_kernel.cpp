#include "tallskinny/gemm/assign/cuda/assign_kernel.hpp"

#include <bit>

#include "tallskinny/gemm/backend/cuda/geometry.hpp"

namespace ts::cuda {

namespace {

constexpr index_t threads = 256, warps_a_block = threads / 32;

/// Whether three products of float16 parts cost less than what a single one leaves to be decided again.
bool three_products_pay(const AssignProblem& p, const DeviceInfo& device) {
  const double products = 3.0 * 2 * 16 * static_cast<double>(column_steps(p.d) * padded_centroids(p.k));
  const double bytes = static_cast<double>(p.d * size_of(p.type) + 4);
  return products / (0.6 * device.half_tensor_flops) < 2 * bytes / device.read_bytes_per_second;
}

/// The words of a block that keeps sums in shared memory (kernels/assign_settle.cuh).
index_t chip_bytes(const AssignProblem& p) {
  return 4 * padded_centroids(p.k) * (4 * (p.d + 1) + 1);
}

/// What both kernels with scores have in common: how a row is loaded, where sums are kept, and the grid.
/// `shared` is what one of two blocks on a multiprocessor needs beside its sums.
void finish(KernelPlan& plan, const AssignProblem& p, index_t shared, index_t warps, index_t blocks,
            index_t warp_rows, const DeviceInfo& device) {
  constexpr index_t most_rows = 1 << 15;  // of a block with sums of halves of limbs
  const auto size = static_cast<int>(size_of(p.type));
  Piece piece = widest_piece(static_cast<std::size_t>(size), {Layout::row_major, false, p.alignment}, p.d);
  if (plan.family == "assign_scores") piece.count = std::min(piece.count, 4);
  piece.alignment = std::min(piece.alignment, piece.count * size);
  const bool on_chip = blocks * (shared + chip_bytes(p) + 1024) <= device.shared_bytes_per_multiprocessor &&
                       shared + chip_bytes(p) <= device.shared_bytes_per_block;
  for (auto& each :
       {define(p.type), define("TS_D", p.d), define("TS_WIDE", p.wide ? 1 : 0),
        define("TS_COUNT", piece.count), define("TS_ALIGN", piece.alignment),
        define("TS_ON_CHIP", on_chip ? 1 : 0), define("TS_WARPS", warps), define("TS_BLOCKS", blocks)})
    plan.defines.push_back(each);
  const index_t at_once = blocks * device.multiprocessors;
  const index_t waves =
      on_chip ? std::max<index_t>(1, ceil_div(p.n, at_once * (most_rows - warps * warp_rows))) : 1;
  plan.grid = grid_of(ceil_div(p.n, warps * warp_rows), waves * at_once);
  plan.block = static_cast<unsigned>(32 * warps);
  plan.shared_bytes = static_cast<std::size_t>(shared + (on_chip ? chip_bytes(p) : 0));
  plan.budget = {static_cast<int>(65536 / (32 * warps * blocks) / 8 * 8), 0};
}

}  // namespace

AssignProblem assign_problem(const Rows& x, index_t k, bool wide) {
  AssignProblem p{x.type(), x.rows(), x.cols(), k, x.col_stride() == 1 && !x.has_scale(), 1, wide};
  const auto size = static_cast<std::uint64_t>(size_of(x.type()));
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(x.values())) |
                    static_cast<std::uint64_t>(x.row_stride()) * size | 16;
  p.alignment = 1 << std::countr_zero(bits);
  return p;
}

std::optional<KernelPlan> assign_narrow_plan(const AssignProblem& p, const DeviceInfo& device) {
  constexpr index_t most_columns = 16, most_products = 384, most_centroids = 128;
  if (!p.plain || p.d > most_columns || p.d * p.k > most_products || p.k > most_centroids)
    return std::nullopt;
  const index_t groups = ceil_div(p.k, 4), size = static_cast<index_t>(size_of(p.type));
  const index_t shared = groups * (p.d + 1) * 16 + ceil_div(p.d, 4) * 4 * (p.wide ? 8 : 4);
  // A warp should have 2 KiB of loads under way, and registers for its rows.
  const index_t rows = std::clamp<index_t>(64 / (p.d * size), 2, std::max<index_t>(2, 32 / p.d));
  KernelPlan plan;
  plan.family = "assign_narrow";
  plan.defines = {define("TS_GROUPS", groups), define("TS_ROWS", std::min<index_t>(rows, 8))};
  finish(plan, p, shared, warps_a_block, 2, 32 * std::min<index_t>(rows, 8), device);
  return plan;
}

std::optional<KernelPlan> assign_scores_plan(const AssignProblem& p, const DeviceInfo& device) {
  constexpr index_t most_steps = 8;
  const index_t steps = column_steps(p.d), tiles = padded_centroids(p.k) / 8;
  if (!p.plain || steps > most_steps) return std::nullopt;
  if (auto narrow = assign_narrow_plan(p, device)) return narrow;
  const index_t rest = tiles * 32 + 16 * steps * (p.wide ? 8 : 4);
  const auto shared = [&](index_t parts) { return tiles * steps * 256 * parts + rest; };
  const index_t most = device.shared_bytes_per_block;
  const index_t parts = three_products_pay(p, device) && shared(2) <= most ? 2 : 1;
  if (shared(parts) > most) return std::nullopt;

  // As many tiles of 16 rows as the registers of a warp hold with all their columns.
  const index_t held = p.type == DType::float64 ? 2 * steps : steps;
  const index_t rows = held <= 1 ? 4 : held <= 4 ? 2 : 1;
  const bool twice = 2 * (shared(parts) + 1024) <= device.shared_bytes_per_multiprocessor;
  // With 64 registers of fragments and more, a warp needs more than the 128 that 16 of them have; the
  // assembler for sm_100 takes about 32 more.
  const index_t fragments = 4 * parts * rows * steps + (device.capability() >= 100 ? 32 : 0);
  const index_t blocks = twice ? 2 : 1, warps = (fragments >= 96 ? 8 : fragments >= 64 ? 12 : 16) / blocks;
  KernelPlan plan;
  plan.family = "assign_scores";
  plan.defines = {define("TS_STEPS", steps), define("TS_TILES", tiles), define("TS_MT", rows),
                  define("TS_PARTS", parts)};
  finish(plan, p, shared(parts), warps, blocks, 16 * rows, device);
  return plan;
}

KernelPlan assign_prepare_plan(const AssignProblem& p, bool fragments) {
  KernelPlan plan;
  plan.family = "assign_prepare";
  plan.defines = {define("TS_D", p.d), define("TS_STEPS", fragments ? column_steps(p.d) : 0)};
  plan.grid = grid_of(ceil_div(padded_centroids(p.k), warps_a_block), INT32_MAX);
  plan.block = threads;
  plan.budget = {128, 0};
  return plan;
}

KernelPlan assign_rows_plan(std::string_view family, const AssignProblem& p, index_t warps,
                            const DeviceInfo& device) {
  constexpr index_t blocks_at_once = 4;
  KernelPlan plan;
  plan.family = family;
  plan.defines = {define(p.type)};
  plan.grid = grid_of(ceil_div(warps, warps_a_block), 8 * blocks_at_once * device.multiprocessors);
  plan.block = threads;
  plan.budget = {128, 0};
  return plan;
}

KernelPlan assign_threads_plan(std::string_view family, DType type, Defines defines, index_t count) {
  KernelPlan plan;
  plan.family = family;
  plan.defines = std::move(defines);
  plan.defines.push_back(define(type));
  plan.grid = grid_of(ceil_div(count, threads), INT32_MAX);
  plan.block = threads;
  plan.budget = {128, 0};
  return plan;
}

}  // namespace ts::cuda
