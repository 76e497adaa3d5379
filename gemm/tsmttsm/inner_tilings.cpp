#include <algorithm>

#include "tallskinny/gemm/runtime/gpu/stream.hpp"
#include "tallskinny/gemm/tsmttsm/inner_shape.hpp"

namespace ts::cuda {
namespace {

/// Fewer rows than this are bound by the start of the kernel whatever the arithmetic, and float64 is exact.
constexpr index_t least_rows_to_split = 4096;

/// Cycles by which clusters are done earlier than tickets.
constexpr double cluster_gain = 9e3;
/// Cycles of work up to which that is worth the multiprocessors that clusters leave idle: where these count,
/// and where memory is the limit.
constexpr double brief_arithmetic = 80e3, brief_reading = 250e3;
/// Bytes of shared memory that other blocks may write to.
constexpr index_t largest_inbox = 64 * 1024;

int tiles_needed(bool gram, const InnerTiling& t) {
  int count = 0;
  for (int l = 0; l < t.warps_l; ++l)
    for (int r = 0; r < t.warps_r; ++r) count += !gram || (r + 1) * 8 * t.tiles_r > l * 16 * t.tiles_l;
  return count;
}

/// What a thread will need: sums, the fragments of one step, addresses.
int registers_needed(DType type, const InnerTiling& t) {
  const int tiles = t.tiles_l * t.tiles_r;
  if (scalar_bytes(type) == 2) return 4 * tiles + 2 * t.tiles_r + 48 + (tiles > 4 ? 44 : 0);
  if (t.split) return 4 * tiles + 8 * t.tiles_r + 100;
  return 8 * tiles + 8 * t.tiles_r + 64;
}

/// Cycles of a scheduler for 16 rows: of `products` tensor instructions, with loads and sums of parts.
double three_product_cost(double products, const InnerTiling& t) {
  const double columns = 2.0 * t.tiles * (2 * t.tiles_l + t.tiles_r);
  const double tensor = 64 * products, issue = products + 7 * columns;
  const int warps = t.warps(), rounds = (warps + 3) / 4;
  const double busy = warps / (4.0 * rounds);
  return (std::max(tensor, issue) + 0.3 * std::min(tensor, issue)) / busy * (warps < 8 ? 1.3 : 1);
}

/// Tilings of three real products for a complex one, of whose rows whole complex numbers are read.
void add_three_product_tilings(const InnerProblem& problem, const BlockLimits& limits, const InnerShape& shape,
                               std::vector<InnerTiling>& all) {
  if (problem.type != DType::complex128 || problem.rows < least_rows_to_split || problem.parts > 0 || shape.natural ||
      shape.fold > 1 || widest_vector(shape.a, 1, 2, 2) < 2 || widest_vector(shape.b, 1, 2, 2) < 2)
    return;
  const int need_l = (shape.left().width / 2 + 15) / 16, need_r = (shape.right().width / 2 + 7) / 8;
  const int bytes = shape.a.row_bytes(1) + (problem.gram ? 0 : shape.b.row_bytes(1));
  const bool bulk = limits.bulk_copies && shape.a.mode == TallMode::flat && shape.b.mode == TallMode::flat;
  for (int tl = 1; tl <= std::min(4, need_l); ++tl)
    for (int tr = 1; tr <= std::min(4, need_r); ++tr) {
      if (problem.gram && tr != 2 * tl) continue;
      InnerTiling t{tl, tr, (need_l + tl - 1) / tl, (need_r + tr - 1) / tr};
      t.three = true, t.tiles = tiles_needed(problem.gram, t);
      for (const int slices : {4, 3, 2, 1}) {
        t.slices = slices, t.producers = bulk ? 1 : 4, t.give = false;
        const int warps = t.warps(), needed = 24 * tl * tr + 24 * tr + 4 * tl + 56;
        if (warps > 15 || (slices > 1 && (warps > 12 || 16 * slices * bytes > 66 * 1024))) continue;
        if (needed > register_cap(warps + t.producers)) {
          t.give = limits.warpgroups && warps % 4 == 0, t.producers = t.give ? 4 : 0;
          const int cap = t.give ? registers_left(warps, 4, bulk ? 40 : 88) : register_cap(warps);
          if (needed + (bulk || t.give ? 0 : 16) > cap) continue;
        }
        t.cost = three_product_cost(t.tiles * t.products(), t) *
                 (t.producers > 0 ? 1
                  : bulk          ? 1.15
                                  : 2) *
                 (16 * slices * bytes > 40 * 1024 ? 1.1 : 1);
        all.push_back(t);
      }
    }
  // A Gram matrix of 7 or 8 blocks of columns: no scheduler has more to do than another (TS_PAIRS).
  if (!problem.gram || need_r < 7 || need_r > 8 || !bulk || !limits.warpgroups) return;
  InnerTiling t{4, 2, 1, 4, 4, 2, 4};
  t.three = t.pairs = t.give = true, t.ring_kib = 128;
  t.cost = three_product_cost(t.tiles * t.products(), t);
  all.push_back(t);
}

/// Tilings of the warpgroup kernels.
void add_warpgroup_tilings(const InnerProblem& problem, const BlockLimits& limits, InnerShape shape,
                           std::vector<InnerTiling>& all) {
  if (!limits.warpgroups || scalar_bytes(problem.type) != 4 || shape.natural || problem.rows < least_rows_to_split)
    return;
  shape.swap = swap_for_warpgroups(shape, problem.gram);
  const int groups = (shape.left().folded(shape.fold) + 63) / 64;
  const bool narrow_gram = problem.gram && groups == 1;
  const int blocks = round_up(shape.right().folded(shape.fold), narrow_gram ? 16 : 8) / 8;
  if (blocks > 16 || groups > (problem.gram ? 2 : 3)) return;
  for (const int slices : {1, 2, 3}) {
    InnerTiling t{1, blocks, groups, 1, groups, slices, 4, true};
    t.warpgroups = true;
    // Two sets of sums, both parts of the left factor, addresses; warps that fill give registers away.
    const int needed = 8 * blocks + 88, warps = t.warps(), each = warps > 8 ? 152 : warps > 4 ? 224 : 255;
    if (warps > 12) continue;
    // Cycles of a scheduler for 16 rows, as of the other tilings, and as measured on an H100.
    if (narrow_gram) {
      // (The copies of single threads take registers that three slices do not leave.)
      if (slices == 1 || (slices == 3 && shape.a.mode != TallMode::flat)) continue;
      t.cost = (630 + 74 * blocks) * (slices == 3 ? 1 : 1.25);
    } else {
      if (needed > each) continue;
      const double area = groups * blocks - (problem.gram ? 8 : 0);
      t.cost = ((problem.gram ? 800 : 600) * groups + 75 * area) * (warps < 8 ? 1.3 : slices == 3 ? 0.95 : 1);
    }
    all.push_back(t);
  }
}

/// Whether blocks meet in clusters; `cost` cycles of a scheduler for 16 rows.
bool is_brief(const InnerProblem& problem, const BlockLimits& limits, const InnerShape& shape, const InnerTiling& t,
              double cost, bool arithmetic) {
  const double cycles =
      static_cast<double>(problem.rows * problem.panels) / shape.fold / 16 * cost / 4 / limits.multiprocessors;
  const index_t numbers = numbers_of(problem, shape, t), clusters = clusters_of(limits);
  const index_t kept = t.warps() * t.tiles_l * t.tiles_r * 128;
  return limits.bulk_copies && problem.panels <= clusters && 8 * numbers <= largest_inbox &&
         8 * (numbers + kept) + 2048 <= limits.shared_bytes && clusters * numbers <= Stream::mailbox_count &&
         cycles <= (arithmetic ? brief_arithmetic : brief_reading);
}

/// Blocks that read panels of the same rows of a narrow type side by side: memory binds. As measured on an
/// H100, float64 sums of many warps wait least, and what is under way should stay close together.
bool reads_side_by_side(const InnerProblem& problem, const BlockLimits& limits, const InnerShape& shape) {
  return problem.panels > limits.multiprocessors / 2 && !shape.natural && scalar_bytes(problem.type) < 8 &&
         shape.right().folded(shape.fold) <= 32;
}

/// Whether whole chunks of long operands are under way while another is multiplied.
bool has_long_ring(const InnerTiling& t) {
  return !t.brief && t.producers > 0 && t.residents == 1 && !t.pairs && t.chunk_kib == 0;
}

/// Chunks of long operands under way at once. Memory gives most when it is asked for little more than it can
/// bring at once: four chunks of 32 KiB a multiprocessor reach 75-80 % of an H200's read roof, two 93-97. A
/// chunk can be fetched while another is multiplied if that takes little more than half as long.
int most_stages(const InnerTiling& t, double memory) {
  return t.cost <= 0.6 * memory ? 2 : t.cost <= memory ? 3 : t.most_stages;
}

/// InnerTiling::requests where memory wants few requests, as measured on an H200. Numbers that are widened or
/// split keep a chunk longer.
RequestLimit request_limit(DType type, const InnerTiling& t) {
  if (scalar_bytes(type) == 2 || t.slices == 8 || t.busy < 0.33) return {true, scalar_bytes(type) < 8 ? 76 : 64};
  return {false, t.busy < 0.5 ? 50 : 58};
}

/// Tilings of single warps, of which so many blocks share a multiprocessor.
std::vector<InnerTiling> tilings_of_warps(const InnerProblem& problem, const BlockLimits& limits,
                                          const InnerShape& shape, int residents) {
  const bool gram = problem.gram;
  const int left = shape.left().folded(shape.fold), right = shape.right().folded(shape.fold);
  const int need_l = (left + 15) / 16, need_r = (right + 7) / 8;
  const bool bulk = limits.bulk_copies && shape.a.mode == TallMode::flat && shape.b.mode == TallMode::flat;
  const int producers = bulk ? 1 : 4;
  const int bytes = shape.a.row_bytes(shape.fold) + (gram ? 0 : shape.b.row_bytes(shape.fold));
  const int even = std::max(shape.natural ? shape.right().parts : 1, 1);
  // Registers that addresses take where columns are fetched; two ways of fetching at once take most.
  const int fetching = !shape.natural ? 0 : shape.a.mode == shape.b.mode ? 8 : 32;
  const bool side_by_side = reads_side_by_side(problem, limits, shape);

  // Whether the shared memory of a multiprocessor holds the sums and two stages of each of its blocks.
  const auto shares_memory = [&](const InnerTiling& t, bool narrow) {
    const int sums = t.warps() * t.tiles_l * t.tiles_r * 1024, rows = 16 * t.slices;
    const int two = 2 * (stage_bytes(shape.a, shape, rows) + (gram ? 0 : stage_bytes(shape.b, shape, rows)));
    return (narrow ? sums + two : std::max(sums, two)) + 2048 <= limits.shared_bytes / residents;
  };

  // Cycles of a scheduler for a fragment of split numbers, as measured: the tiles of a Gram matrix are small,
  // and its rows are read once.
  const double splitting = gram ? 26 : 16;
  std::vector<InnerTiling> all;
  for (const bool split : {false, true}) {
    if (split && (scalar_bytes(problem.type) != 4 || problem.rows < least_rows_to_split)) continue;
    if (split && side_by_side) continue;
    const bool narrow = sums_in_float(problem.type, split);
    // The rows of a Gram matrix that are widened to float64 wait for nothing but the tensor instructions.
    const bool widened = gram && !split && scalar_bytes(problem.type) == 4;
    for (int tl = 1; tl <= std::min(4, need_l); ++tl)
      for (int tr = 1; tr <= 8; ++tr) {
        if (tr == 5 || tr == 7) continue;  // their columns would be loaded one by one
        if (tr % even != 0 || (tr > round_up(need_r, even) && !gram) || (gram && tr != 2 * tl)) continue;
        if (narrow && tl * tr > (split ? 16 : 9)) continue;
        InnerTiling t{tl, tr, (need_l + tl - 1) / tl, (need_r + tr - 1) / tr, 1, 1, producers, split};
        t.tiles = tiles_needed(gram, t);
        for (int slices : {8, 4, 3, 2, 1}) {
          t.slices = slices, t.producers = producers;
          const int warps = residents * t.warps(), step_bytes = 16 * slices * residents * bytes;
          if (warps > 15 || (slices > 1 && (warps > 12 || step_bytes > 66 * 1024))) continue;
          if (residents > 1 && !shares_memory(t, narrow)) continue;
          if (side_by_side && scalar_bytes(problem.type) == 4 && slices > 2) continue;
          const int needed = registers_needed(problem.type, t) + fetching;
          if (needed > register_cap(warps + residents * producers)) t.producers = 0;
          // A warp that loads as well; in complex types parts of the rows take registers beside that.
          const bool more = !bulk || (problem.parts > 0 && shape.a.parts == 2);
          const int loading = t.producers == 0 && more ? 16 : 0;
          if (needed + loading > register_cap(warps + residents * t.producers)) continue;
          // Cycles of a scheduler for 16 rows: tensor instructions at the rate of the type, or the issue of
          // loads and of what splitting, widening and adding take.
          const double products = t.tiles * tl * tr, columns = t.tiles * (2 * tl + tr);
          const double tensor = products * (split ? 36 : narrow ? 8 : 64);
          const double issue = products * (split    ? 14
                                           : narrow ? 5
                                                    : 1) +
                               columns * (split    ? splitting
                                          : narrow ? 6
                                                   : 5);
          const int rounds = (warps + 3) / 4;
          const double busy = warps / (4.0 * rounds);
          t.cost = (std::max(tensor, issue) + 0.3 * std::min(tensor, issue)) / busy *
                   (warps < 8                ? 1.3
                    : warps > 12 && !widened ? 1.25
                                             : 1) *
                   (t.producers > 0 ? 1
                    : bulk          ? 1.15
                                    : 2) *
                   (step_bytes > 40 * 1024 ? 1.1 : 1) * (side_by_side && warps > 8 ? 0.9 : 1);
          if (side_by_side) t.ring_kib = 80, t.chunk_kib = 28;
          t.residents = residents, t.ring_kib /= residents;
          all.push_back(t);
        }
      }
  }
  return all;
}

}  // namespace

std::vector<InnerTiling> inner_tilings(const InnerProblem& problem, const BlockLimits& limits) {
  const InnerShape shape = inner_shape_of(problem);
  std::vector<InnerTiling> all;
  for (int residents = limits.residents; all.empty() && residents > 0; --residents)
    all = tilings_of_warps(problem, limits, shape, residents);
  const int bytes = shape.a.row_bytes(shape.fold) + (problem.gram ? 0 : shape.b.row_bytes(shape.fold));
  const double memory = 4 * 16.0 * bytes / 14;  // a multiprocessor reads 14 bytes a cycle
  for (InnerTiling& t : all)
    t.brief = problem.parts == 0 && is_brief(problem, limits, shape, t, std::max(t.cost, memory), t.cost > memory);
  const auto cheaper = [](const InnerTiling& x, const InnerTiling& y) { return x.cost < y.cost; };
  if (!all.empty() && std::min_element(all.begin(), all.end(), cheaper)->cost > memory)
    add_three_product_tilings(problem, limits, shape, all);
  // Warpgroups start slowly and pay where memory is not the limit.
  if (all.empty() || problem.every_core ||
      (!reads_side_by_side(problem, limits, shape) &&
       1.2 * std::min_element(all.begin(), all.end(), cheaper)->cost > memory))
    add_warpgroup_tilings(problem, limits, shape, all);
  const bool bulk = limits.bulk_copies && shape.a.mode == TallMode::flat && shape.b.mode == TallMode::flat;
  if (bulk && problem.panels == 1 && problem.parts == 0)
    for (InnerTiling& t : all) {
      t.busy = t.cost / memory;
      // (float32 that takes long to multiply is read best by many chunks there: 75-87 -> 88-95 % at 40
      // to 48.)
      const bool by_many = limits.few_requests && scalar_bytes(problem.type) == 4 && t.busy >= 0.33;
      if (!has_long_ring(t) || by_many) continue;
      t.most_stages = most_stages(t, memory);
      if (limits.few_requests && t.busy <= 1) t.requests = request_limit(problem.type, t);
    }
  const double gain =
      4 * cluster_gain * limits.multiprocessors * 16 * shape.fold / static_cast<double>(problem.rows * problem.panels);
  for (InnerTiling& t : all)
    if (!t.brief) t.cost += gain;
  std::stable_sort(all.begin(), all.end(), cheaper);
  return all;
}

}  // namespace ts::cuda
