#include "tallskinny/gemm/tsmttsm/search.hpp"

#include <algorithm>
#include <tuple>

#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::inline v0::cuda {
namespace {

// The search space. Of tilings of equal cost the one that comes first in these lists counts as the better one: float64
// before split numbers, then by tiles on the left, tiles on the right, slices; three products for a complex one and
// warpgroups come last.
constexpr int most_tiles_left = 4;
constexpr int tiles_right_of_warp[] = {1, 2, 3, 4, 6, 8};  // the columns of 5 or 7 would be loaded one by one
constexpr int slices_of_warps[] = {8, 4, 3, 2, 1}, slices_of_three[] = {4, 3, 2, 1}, slices_of_warpgroups[] = {1, 2, 3};
constexpr int most_warps_of_block = 15, most_sharing_warps = 12;  ///< with slices, or without them
constexpr int most_split_products = 16, most_half_products = 9;
constexpr int most_slices_side_by_side = 2;   ///< of float32
constexpr int most_tiles_right_of_three = 4;  ///< complex ones
constexpr int pair_warps = 4;                 ///< of pairs of blocks of 16 complex columns
/// Bytes of shared memory that other blocks may write to, and that are kept free.
constexpr int largest_inbox = 64 * 1024, search_keeps_free = 2048;

/// What scoring a tiling needs to know.
struct Search {
  const InnerProblem& problem;
  const BlockLimits& limits;
  InnerCostModel model;
  InnerShape shape;
  double memory = 0;  ///< cycles of a scheduler in which 16 rows are read
  std::vector<InnerTiling> all = {};

  void add(InnerTiling t) {
    t.turn = static_cast<int>(all.size());
    all.push_back(t);
  }
  [[nodiscard]] double least_cost() const {
    return std::min_element(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.cost < y.cost; })->cost;
  }
};

/// Blocks that read panels of the same rows of a narrow type side by side: memory binds. Float64 sums of many warps
/// wait least, and what is under way should stay close together.
bool reads_side_by_side(const Search& s) {
  return s.problem.panels > s.limits.multiprocessors / 2 && !s.shape.natural && scalar_bytes(s.problem.type) < 8 &&
         s.shape.right().folded(s.shape.fold) <= inner_panels_of_a.side_by_side;
}

bool is_half(const InnerProblem& problem) { return scalar_bytes(problem.type) == 2; }
bool is_narrow(const InnerProblem& problem, const InnerTiling& t) { return is_half(problem) || t.split; }

/// Both pipes, of which the shorter one is hidden but for a part, and warps that schedulers have too few of.
double busy_cycles(const InnerCostModel& m, double tensor, double issue, int warps) {
  const int rounds = (warps + 3) / 4;
  const double busy = warps / (4.0 * rounds);
  return (std::max(tensor, issue) + m.not_hidden * std::min(tensor, issue)) / busy;
}
double filling_factor(const InnerCostModel& m, const InnerTiling& t, bool bulk) {
  return t.producers > 0 ? 1 : bulk ? m.fills_in_bulk : m.fills_by_threads;
}

/// The cost of `t`, whose blocks that share a multiprocessor have so many warps, and steps so many bytes.
double cost_of_warps(const Search& s, const InnerTiling& t, int warps, int step_bytes) {
  const InnerCostModel& m = s.model;
  const bool gram = s.problem.gram, narrow = is_narrow(s.problem, t), side_by_side = reads_side_by_side(s);
  // The rows of a Gram matrix that are widened to float64 wait for nothing but the tensor instructions.
  const bool widened = gram && !t.split && scalar_bytes(s.problem.type) == 4;
  const double products = t.tiles * t.tiles_l * t.tiles_r, columns = t.tiles * (2 * t.tiles_l + t.tiles_r);
  const double tensor = products * (t.split ? m.split_tensor : narrow ? m.half_tensor : m.float64_tensor);
  const double split_columns = gram ? m.split_gram_columns : m.split_columns;
  const double issue = products * (t.split  ? m.split_issue
                                   : narrow ? m.half_issue
                                            : m.float64_issue) +
                       columns * (t.split  ? split_columns
                                  : narrow ? m.half_columns
                                           : m.float64_columns);
  const int folded = s.shape.left().folded(s.shape.fold);
  const double least = widened && (folded == 15 || folded == 16) ? m.widened_full_gram : 0;
  const double by_warps = warps < m.few_warps ? m.fewer_warps : warps > m.many_warps && !widened ? m.more_warps : 1;
  return std::max(least, busy_cycles(m, tensor, issue, warps) * by_warps *
                             filling_factor(m, t, s.shape.in_bulk(s.limits)) *
                             (step_bytes > m.long_step_bytes ? m.long_step : 1) *
                             (side_by_side && warps > m.many_side_by_side ? m.more_side_by_side : 1));
}

double cost_of_three(const Search& s, const InnerTiling& t, bool bulk) {
  const InnerCostModel& m = s.model;
  const int warps = t.warps();
  const double products = t.tiles * 3 * (t.pairs ? t.tiles_l + 1 : t.tiles_l * t.tiles_r);
  const double columns = 2.0 * t.tiles * (2 * t.tiles_l + t.tiles_r);
  const double tensor = m.float64_tensor * products, issue = products + m.three_columns * columns;
  return busy_cycles(m, tensor, issue, warps) * (warps < m.few_warps ? m.fewer_warps : 1) * filling_factor(m, t, bulk) *
         (!t.pairs && 16 * t.slices * s.shape.row_bytes(s.problem.gram) > m.long_step_bytes ? m.long_step : 1);
}

/// What a thread will need: sums, the fragments of one step, addresses.
int registers_needed(const Search& s, const InnerTiling& t) {
  constexpr const InnerRegisters& r = inner_registers;
  const InnerRegisters::Need& need = is_half(s.problem) ? r.half : t.split ? r.split : r.float64;
  const int more = is_half(s.problem) && t.tiles_l * t.tiles_r > r.half_few_tiles ? r.half_of_more : 0;
  const int fetching = !s.shape.natural ? 0 : s.shape.a.mode == s.shape.b.mode ? r.fetching : r.fetching_two_ways;
  return need.of(t.tiles_l, t.tiles_r) + more + fetching;
}

/// Whether the shared memory of a multiprocessor holds the sums and two stages of each of its blocks.
bool shares_memory(const Search& s, const InnerTiling& t, int residents) {
  InnerPolicy k = inner_policy(s.problem, s.shape, t);
  k.sub_rows = 16 * t.slices / k.subs();
  const int sums = t.warps() * t.tiles_l * t.tiles_r * 1024, two = 2 * k.stage_bytes();
  return (is_narrow(s.problem, t) ? sums + two : std::max(sums, two)) + search_keeps_free <=
         s.limits.shared_bytes / residents;
}

/// Chooses the producers of `t`, of which so many blocks share a multiprocessor; false where it does not fit.
bool fits_warps(const Search& s, InnerTiling& t, int residents, int step_bytes) {
  const bool bulk = s.shape.in_bulk(s.limits);
  const int producers = bulk ? 1 : 4, warps = residents * t.warps();
  if (warps > most_warps_of_block ||
      (t.slices > 1 && (warps > most_sharing_warps || step_bytes > s.model.longest_step_bytes)))
    return false;
  if (residents > 1 && !shares_memory(s, t, residents)) return false;
  if (reads_side_by_side(s) && scalar_bytes(s.problem.type) == 4 && t.slices > most_slices_side_by_side) return false;
  const int needed = registers_needed(s, t);
  t.producers = needed > register_cap(warps + residents * producers) ? 0 : producers;
  // A warp that loads as well; in complex types parts of the rows take registers beside that.
  const bool more = !bulk || (s.problem.parts > 0 && s.shape.a.parts == 2);
  const int loading = t.producers == 0 && more ? inner_registers.loading : 0;
  return needed + loading <= register_cap(warps + residents * t.producers);
}

/// Tilings of single warps, of which so many blocks share a multiprocessor.
void add_warp_tilings(Search& s, int residents) {
  const InnerProblem& problem = s.problem;
  const bool gram = problem.gram, side_by_side = reads_side_by_side(s);
  const int need_l = (s.shape.left().folded(s.shape.fold) + 15) / 16,
            need_r = (s.shape.right().folded(s.shape.fold) + 7) / 8;
  const int even = std::max(s.shape.natural ? s.shape.right().parts : 1, 1);
  for (const bool split : {false, true}) {
    if (split && (scalar_bytes(problem.type) != 4 || problem.rows < s.model.least_rows_to_split || side_by_side))
      continue;
    for (int tl = 1; tl <= std::min(most_tiles_left, need_l); ++tl)
      for (const int tr : tiles_right_of_warp) {
        if (tr % even != 0 || (tr > round_up(need_r, even) && !gram) || (gram && tr != 2 * tl)) continue;
        InnerTiling t{tl, tr, (need_l + tl - 1) / tl, (need_r + tr - 1) / tr};
        t.split = split, t.tiles = inner_policy(problem, s.shape, t).tiles();
        if (is_narrow(problem, t) && tl * tr > (split ? most_split_products : most_half_products)) continue;
        for (const int slices : slices_of_warps) {
          t.slices = slices;
          const int step_bytes = 16 * slices * residents * s.shape.row_bytes(gram);
          if (!fits_warps(s, t, residents, step_bytes)) continue;
          t.cost = cost_of_warps(s, t, residents * t.warps(), step_bytes);
          if (side_by_side) t.ring_kib = inner_rings.side_by_side_kib, t.chunk_kib = inner_rings.side_by_side_chunk_kib;
          t.residents = residents, t.ring_kib /= residents;  // and fewer slices have shorter rings
          s.add(t);
        }
      }
  }
}

/// Chooses who fills for three products; false where registers do not suffice.
bool fits_three(const Search& s, InnerTiling& t, bool bulk) {
  t.producers = bulk ? 1 : 4, t.give = false;
  const int warps = t.warps(), needed = inner_registers.three.of(t.tiles_l, t.tiles_r);
  const int step_bytes = 16 * t.slices * s.shape.row_bytes(s.problem.gram);
  if (warps > most_warps_of_block ||
      (t.slices > 1 && (warps > most_sharing_warps || step_bytes > s.model.longest_step_bytes)))
    return false;
  if (needed <= register_cap(warps + t.producers)) return true;
  t.give = s.limits.warpgroups && warps % 4 == 0, t.producers = t.give ? 4 : 0;
  const int kept = InnerPolicy{}.filler_registers(bulk);
  const int cap = t.give ? registers_left(warps, 4, kept) : register_cap(warps);
  return needed + (bulk || t.give ? 0 : inner_registers.loading) <= cap;
}

/// Tilings of three real products for a complex one, of whose rows whole complex numbers are read.
void add_three_product_tilings(Search& s) {
  const InnerProblem& problem = s.problem;
  const InnerShape& shape = s.shape;
  if (problem.type != DType::complex128 || problem.rows < s.model.least_rows_to_split || problem.parts > 0 ||
      shape.natural || shape.fold > 1 || widest_vector(shape.a, 1, 2, 2) < 2 || widest_vector(shape.b, 1, 2, 2) < 2)
    return;
  const int need_l = (shape.left().width / 2 + 15) / 16, need_r = (shape.right().width / 2 + 7) / 8;
  const bool bulk = shape.in_bulk(s.limits);
  for (int tl = 1; tl <= std::min(most_tiles_left, need_l); ++tl)
    for (int tr = 1; tr <= std::min(most_tiles_right_of_three, need_r); ++tr) {
      if (problem.gram && tr != 2 * tl) continue;
      InnerTiling t{tl, tr, (need_l + tl - 1) / tl, (need_r + tr - 1) / tr};
      t.three = true, t.tiles = inner_policy(problem, shape, t).tiles();
      for (const int slices : slices_of_three) {
        t.slices = slices;
        if (!fits_three(s, t, bulk)) continue;
        t.cost = cost_of_three(s, t, bulk);
        s.add(t);
      }
    }
  // Eight blocks of columns of a Gram matrix, or seven: no scheduler has more to do than another.
  if (!problem.gram || (need_r + 1) / 2 != pair_warps || !bulk || !s.limits.warpgroups) return;
  InnerTiling t{4, 2, 1, pair_warps, pair_warps, 2, 4};
  t.three = t.pairs = t.give = true, t.ring_kib = inner_rings.pairs_kib;
  t.cost = cost_of_three(s, t, bulk);
  s.add(t);
}

/// Tilings of the warpgroup kernels.
void add_warpgroup_tilings(Search& s) {
  const InnerProblem& problem = s.problem;
  const InnerCostModel& m = s.model;
  constexpr const InnerPanels& widest = inner_panels_of_a;
  InnerShape shape = s.shape;
  if (!s.limits.warpgroups || scalar_bytes(problem.type) != 4 || shape.natural || problem.rows < m.least_rows_to_split)
    return;
  shape.swap = swap_for_warpgroups(shape, problem.gram);
  const int groups = (shape.left().folded(shape.fold) + 63) / 64;
  const bool narrow_gram = problem.gram && groups == 1;
  const int blocks = round_up(shape.right().folded(shape.fold), narrow_gram ? 16 : 8) / 8;
  if (blocks > widest.group_blocks || groups > (problem.gram ? widest.gram_groups : widest.groups)) return;
  for (const int slices : slices_of_warpgroups) {
    InnerTiling t{1, blocks, groups, 1, groups, slices, 4, true};
    t.warpgroups = true;
    // (Warps that fill give registers away.)
    const int needed = inner_registers.warpgroup_block * blocks + inner_registers.warpgroup_beside, warps = t.warps();
    if (warps > most_sharing_warps) continue;
    if (narrow_gram) {
      // (The copies of single threads take registers that three slices do not leave.)
      if (slices == 1 || (slices == 3 && shape.a.mode != TallMode::flat)) continue;
      t.cost = (m.narrow_gram + m.narrow_gram_block * blocks) * (slices == 3 ? 1 : m.narrow_gram_of_two);
    } else {
      if (needed > inner_registers.left_to_warpgroups(warps)) continue;
      const double area = groups * blocks - (problem.gram ? m.gram_blocks_left_out : 0);
      const double by_warps = warps < m.few_warps ? m.fewer_warps : slices == 3 ? m.three_slices : 1;
      t.cost = ((problem.gram ? m.gram_group : m.group) * groups + m.block * area) * by_warps;
    }
    s.add(t);
  }
}

/// Whether blocks meet in clusters.
bool is_brief(const Search& s, const InnerTiling& t) {
  const InnerPolicy k = inner_policy(s.problem, s.shape, t);
  const double cost = std::max(t.cost, s.memory);
  const double cycles =
      static_cast<double>(s.problem.rows * s.problem.panels) / s.shape.fold / 16 * cost / 4 / s.limits.multiprocessors;
  const index_t numbers = k.numbers(), clusters = clusters_of(s.limits);
  const index_t kept = t.warps() * t.tiles_l * t.tiles_r * 128;
  return s.problem.parts == 0 && s.limits.bulk_copies && s.problem.panels <= clusters && 8 * numbers <= largest_inbox &&
         8 * (numbers + kept) + search_keeps_free <= s.limits.shared_bytes &&
         clusters * numbers <= Stream::mailbox_count &&
         cycles <= (t.cost > s.memory ? s.model.brief_arithmetic : s.model.brief_reading);
}

/// How many chunks may be under way at once, where whole chunks of long operands are, while another is multiplied.
void limit_chunks(const Search& s, InnerTiling& t) {
  const InnerCostModel& m = s.model;
  constexpr const InnerRequests& r = inner_requests;
  const DType type = s.problem.type;
  t.busy = t.cost / s.memory;
  const bool by_many = m.few_requests && scalar_bytes(type) == 4 && t.busy >= r.soon_used;
  const bool long_ring = !t.brief && t.producers > 0 && t.residents == 1 && !t.pairs && t.chunk_kib == 0;
  if (!long_ring || by_many) return;
  if (t.cost <= m.two_chunks * s.memory)
    t.most_stages = 2;
  else if (t.cost <= m.three_chunks * s.memory)
    t.most_stages = 3;
  if (!m.few_requests || t.busy > r.never_limits) return;
  if (is_half(s.problem) || t.slices == r.slices_of_one_warp || t.busy < r.soon_used)
    t.requests = {true, scalar_bytes(type) < 8 ? r.soon_kib_of_narrow : r.soon_kib};
  else
    t.requests = {false, t.busy < r.late_used ? r.kib : r.late_kib};
}

}  // namespace

std::vector<InnerTiling> inner_tilings(const InnerProblem& problem, const BlockLimits& limits) {
  Search s{problem, limits, inner_cost_model(limits), inner_shape_of(problem)};
  s.memory = 4 * 16.0 * s.shape.row_bytes(problem.gram) / s.model.bytes_per_cycle;
  for (int residents = limits.residents; s.all.empty() && residents > 0; --residents) add_warp_tilings(s, residents);
  for (InnerTiling& t : s.all) t.brief = is_brief(s, t);
  if (!s.all.empty() && s.least_cost() > s.memory) add_three_product_tilings(s);
  // Warpgroups start slowly and pay where memory is not the limit.
  if (s.all.empty() || problem.every_core ||
      (!reads_side_by_side(s) && s.model.start_of_warpgroups * s.least_cost() > s.memory))
    add_warpgroup_tilings(s);
  if (s.shape.in_bulk(limits) && problem.panels == 1 && problem.parts == 0)
    for (InnerTiling& t : s.all) limit_chunks(s, t);
  const double gain = 4 * s.model.cluster_gain * limits.multiprocessors * 16 * s.shape.fold /
                      static_cast<double>(problem.rows * problem.panels);
  for (InnerTiling& t : s.all)
    if (!t.brief) t.cost += gain;
  std::sort(s.all.begin(), s.all.end(),
            [](const auto& x, const auto& y) { return std::tie(x.cost, x.turn) < std::tie(y.cost, y.turn); });
  return std::move(s.all);
}

}  // namespace ts::inline v0::cuda
