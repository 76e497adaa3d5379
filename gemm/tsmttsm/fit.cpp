// From a tiling to a kernel: chunks of rows, the ring, and the grid.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/tsmttsm/search.hpp"

namespace ts::inline v0::cuda {

InnerShape inner_shape_of(const InnerProblem& problem) {
  InnerShape s;
  s.a = layout_of(problem.type, problem.p, problem.a);
  s.b = problem.gram ? s.a : layout_of(problem.type, problem.q, problem.b);
  s.natural = s.a.mode == TallMode::by_columns || s.b.mode == TallMode::by_columns;
  if (!s.natural)
    while (s.a.folded(s.fold + 1) <= 16 && s.b.folded(s.fold + 1) <= 16) ++s.fold;
  // The side of 16 takes the factor that wastes less of it.
  const auto padded = [&](const TallLayout& l, const TallLayout& r) {
    return round_up(l.folded(s.fold), 16) * round_up(r.folded(s.fold), 8);
  };
  s.swap = !problem.gram && padded(s.b, s.a) < padded(s.a, s.b);
  return s;
}

bool swap_for_warpgroups(const InnerShape& s, bool gram) noexcept {
  constexpr int never = 1 << 20;
  const auto padded = [&](const TallLayout& l, const TallLayout& r) {
    return round_up(l.folded(s.fold), 64) * round_up(r.folded(s.fold), 8) +
           (r.folded(s.fold) > 8 * inner_panels_of_a.group_blocks ? never : 0);
  };
  return !gram && padded(s.b, s.a) < padded(s.a, s.b);
}

int widest_vector(const TallLayout& s, int fold, int blocks, int widest) noexcept {
  if (s.mode == TallMode::by_columns) return s.parts;
  const unsigned base = s.mode == TallMode::flat ? s.address : 0;
  for (int v = std::min(widest, 16 / s.scalar); v > 1; v /= 2) {
    const int bytes = v * s.scalar;
    if (s.row_bytes(fold) % bytes == 0 && base % static_cast<unsigned>(bytes) == 0 && blocks % v == 0) return v;
  }
  return 1;
}

InnerPolicy inner_policy(const InnerProblem& problem, const InnerShape& s, const InnerTiling& t) {
  InnerPolicy k;
  k.type = problem.type, k.gram = problem.gram, k.parts = problem.parts > 0, k.panels = problem.panels > 1;
  k.p = static_cast<int>(problem.p), k.q = static_cast<int>(problem.gram ? problem.p : problem.q);
  k.kernel = !t.warpgroups                    ? InnerKernel::warps
             : problem.gram && t.warps_l == 1 ? InnerKernel::narrow_gram
                                              : InnerKernel::warpgroups;
  k.arithmetic = scalar_bytes(problem.type) == 2 ? Arithmetic::half : t.split ? Arithmetic::split : Arithmetic::float64;
  k.swap = s.swap, k.fold = s.fold;
  k.mode_a = s.a.mode, k.pitch_a = s.a.pitch, k.vector_a = s.a.vector, k.unit_a = s.a.unit, k.shift_a = s.a.shift;
  k.mode_b = s.b.mode, k.pitch_b = s.b.pitch, k.vector_b = s.b.vector, k.unit_b = s.b.unit, k.shift_b = s.b.shift;
  k.producers = t.producers, k.residents = t.residents, k.slices = t.slices;
  k.tiles_left = t.tiles_l, k.tiles_right = t.tiles_r, k.warps_left = t.warps_l, k.warps_right = t.warps_r;
  k.three = t.three, k.pairs = t.pairs, k.give = t.give;
  return k;
}

namespace {

/// Rows of a batch of the warpgroup kernels, and of a step of the others.
constexpr int warpgroup_batch = 32, step_rows = 16;
constexpr int fit_keeps_free = 1024;  ///< bytes of shared memory
constexpr int line_bytes = 128;       ///< of memory

/// Chunks of so many rows, which so many slices share.
struct ChunkRing {
  int slices, rows, chunks;
};

class InnerFit {
 public:
  InnerFit(const InnerProblem& problem, const BlockLimits& device, const InnerTiling& tiling)
      : problem_(problem), device_(device), t_(tiling), shape_(inner_shape_of(problem)) {
    if (t_.warpgroups) shape_.swap = swap_for_warpgroups(shape_, problem.gram);
    narrow_ = (scalar_bytes(problem.type) == 2 || t_.split) && !t_.warpgroups;
    set_vectors();
    policy_ = inner_policy(problem, shape_, t_);
    counted_slices_ = t_.slices;
    inbox_bytes_ = t_.brief ? policy_.inbox_reserve() : 0;
    flushes_ = narrow_ && (!t_.brief || (t_.split && t_.tiles_l * t_.tiles_r >= inner_flushes.split_tiles));
  }

  KernelPlan plan() {
    choose_ring();
    if (!enough_flushes()) flushes_ = true, choose_ring();
    finish_policy();
    return kernel();
  }

 private:
  static constexpr const InnerRings& rings = inner_rings;

  void set_vectors() {
    const int scalars = t_.three ? 2 : 1;  // of a column of the tiles
    TallLayout& left = shape_.swap ? shape_.b : shape_.a;
    TallLayout& right = shape_.swap ? shape_.a : shape_.b;
    left.vector = widest_vector(left, shape_.fold, 2 * t_.tiles_l * scalars, narrow_ && !t_.split ? 8 : 2);
    right.vector = problem_.gram ? left.vector : widest_vector(right, shape_.fold, t_.tiles_r * scalars, 8);
  }

  /// Bytes of a stage for chunks of so many rows.
  [[nodiscard]] int both(int rows) const {
    InnerPolicy k = policy_;
    k.sub_rows = rows / k.subs();
    return k.stage_bytes();
  }
  [[nodiscard]] index_t folded_rows() const { return ceil_div(problem_.rows, shape_.fold); }
  [[nodiscard]] index_t chunks_of(int rows) const { return ceil_div(folded_rows(), rows); }

  /// The rows of which a chunk is a multiple: whole steps for every slice, and whole lines in every sub-block, or whole
  /// units of copying in those of an operand whose rows follow each other.
  [[nodiscard]] int unit_of(int slices, bool lines) const {
    int unit = (t_.warpgroups ? warpgroup_batch : step_rows) * slices;
    const auto add = [&](const TallLayout& s) {
      constexpr int of_bulk_copies = 16;  // they take operands that begin off a line
      const int bytes = lines ? line_bytes : s.shift ? of_bulk_copies : s.unit;
      if (s.mode == TallMode::flat)
        unit = std::lcm(unit, policy_.subs() * bytes / std::gcd(bytes, s.row_bytes(shape_.fold)));
      if (s.mode == TallMode::by_columns && lines) unit = std::lcm(unit, line_bytes / (s.parts * s.scalar));
    };
    add(shape_.a);
    if (!problem_.gram) add(shape_.b);
    return unit;
  }
  [[nodiscard]] int unit_of(int slices) const {
    const int least = unit_of(slices, false);
    int unit = unit_of(slices, true);
    while (2 * both(unit) > room_ && unit / 2 % least == 0) unit /= 2;
    return unit;
  }

  /// Of what lies before the ring: sums in float64 where float32 ones are flushed to them, or both parts of two
  /// batches.
  [[nodiscard]] int bytes_before_ring() const {
    if (t_.warpgroups) return policy_.slices * policy_.slice_bytes() + (problem_.gram ? InnerPolicy::barrier_bytes : 0);
    InnerPolicy k = policy_;
    k.flush = inner_flushes.steps;
    return flushes_ ? k.kept_bytes() : 0;
  }

  void choose_ring() {
    room_ = device_.shared_bytes / t_.residents - fit_keeps_free - inbox_bytes_ - bytes_before_ring();
    int unit = unit_of(t_.slices);
    while (2 * both(unit) > room_ && t_.slices > 1) t_.slices /= 2, unit = unit_of(t_.slices, false);
    choose_chunk(unit);
    const int ring_kib = t_.brief ? rings.brief_kib : t_.ring_kib;
    stages_ =
        std::clamp(std::min(room_, std::max(ring_kib * 1024, 3 * both(chunk_))) / both(chunk_), 2, t_.most_stages);
    if (t_.requests.kib > 0) {
      const ChunkRing ring = asked_ring({t_.slices, chunk_, stages_});
      t_.slices = ring.slices, chunk_ = ring.rows, stages_ = ring.chunks;
    }
    const index_t chunks = chunks_of(chunk_);
    const index_t most = t_.brief ? clusters_of(device_) / problem_.panels * cluster_blocks
                                  : std::max<index_t>(1, device_.multiprocessors / problem_.panels);
    const index_t wanted = t_.brief && chunks > 1 ? ceil_div(chunks, cluster_blocks) * cluster_blocks : chunks;
    panel_blocks_ = static_cast<int>(std::clamp<index_t>(wanted, 1, most));
  }

  /// Long operands: chunks that copy well; short ones: as many chunks as there are.
  void choose_chunk(int unit) {
    const bool short_runs = shape_.a.mode == TallMode::by_columns || shape_.b.mode == TallMode::by_columns;
    chunk_ = unit;
    const int kib = t_.chunk_kib > 0 ? t_.chunk_kib : short_runs ? rings.chunk_kib_of_columns : rings.chunk_kib;
    const int wanted = std::min(kib * 1024, room_ / 3);
    while (both(chunk_ + unit) <= wanted) chunk_ += unit;
    // (Of blocks that share a multiprocessor, a warp that copies and multiplies has no registers for longer chunks.)
    const bool as_told = t_.chunk_kib > 0;
    const int shortest_shared = problem_.gram ? rings.shortest_shared_gram : rings.shortest_shared;
    const bool in_pairs = t_.residents > 1 && t_.producers > 0 && both(chunk_) < shortest_shared;
    if (!t_.brief && !as_told && !t_.pairs && both(chunk_) < rings.shortest_chunk &&
        (in_pairs ? 2 : 3) * both(chunk_ + unit) <= room_)
      chunk_ += unit;
    if (t_.brief)
      while (chunk_ > unit && chunks_of(chunk_) < rings.brief_chunks) chunk_ -= unit;
    else if (!as_told &&
             rings.short_operand_chunks * chunk_ * static_cast<index_t>(device_.multiprocessors) > folded_rows())
      chunk_ = unit;
  }

  /// As much as may be asked for, by three chunks or by two, and rather by fewer slices than much too little.
  [[nodiscard]] ChunkRing asked_ring(ChunkRing ring) const {
    constexpr const InnerRequests& m = inner_requests;
    const auto [quick, kib] = t_.requests;
    const double fewer = (m.fewer_slices_kib + m.fewer_slices_busy_kib * t_.busy) * 1024;
    double best = 0, less = 0;
    for (int slices = t_.slices; slices * t_.tiles >= m.least_warps; slices /= 2, less += fewer)
      for (int rows = unit_of(slices); 2 * both(rows) <= room_; rows += unit_of(slices))
        for (const int chunks : {3, 2}) {
          const int bytes = both(rows), asked = (quick ? chunks : chunks - 1) * bytes;
          const int most = (kib + (chunks == 3 ? 0 : quick ? m.two_soon_more_kib : -m.two_less_kib)) * 1024;
          const bool slow = quick && std::abs(bytes - m.slow_chunk) < m.slow_within;
          const double worth = chunks == 3 ? asked : quick ? m.two_soon * asked : asked - m.two_lose;
          const double value = worth * (slow ? m.slow : 1) - less;
          if (chunks * bytes > room_ || asked > most || value <= best) continue;
          best = value, ring = {slices, rows, chunks};
        }
    return ring;
  }

  /// Whether sums in float32 move to float64 often enough.
  [[nodiscard]] bool enough_flushes() const {
    const index_t rounds = ceil_div(chunks_of(chunk_), panel_blocks_);
    return !narrow_ || flushes_ || rounds * (chunk_ / step_rows / t_.slices) <= inner_flushes.longest_float_sum;
  }

  [[nodiscard]] TallMode mode_of(const TallLayout& s) const {
    const bool long_columns = s.mode == TallMode::by_columns && s.unit == 16 && device_.bulk_copies &&
                              chunk_ * s.parts * s.scalar >= rings.long_columns_bytes;
    return long_columns ? TallMode::long_columns : s.mode;
  }

  void finish_policy() {
    policy_.slices = t_.slices, policy_.stages = stages_, policy_.sub_rows = chunk_ / policy_.subs();
    policy_.flush = t_.warpgroups ? inner_flushes.batches : flushes_ ? inner_flushes.steps : 0;
    policy_.cluster = t_.brief && panel_blocks_ > 1 ? cluster_blocks : 1;
    policy_.mode_a = mode_of(shape_.a), policy_.mode_b = mode_of(shape_.b);
  }

  [[nodiscard]] KernelPlan kernel() const {
    const bool clustered = policy_.cluster > 1;
    const char* const family = policy_.kernel == InnerKernel::narrow_gram  ? "gram_wgmma"
                               : policy_.kernel == InnerKernel::warpgroups ? "tsmttsm_wgmma"
                               : clustered                                 ? "tsmttsm_cluster"
                                                                           : "tsmttsm";
    KernelPlan k = plan_of(family, policy_);
    const index_t parts = std::max<index_t>(1, problem_.parts), panels = parts * problem_.panels;
    k.grid = static_cast<unsigned>(panels * panel_blocks_);
    k.block = static_cast<unsigned>(policy_.threads());
    // As the search counted on it, though fewer slices may be left.
    InnerPolicy counted = policy_;
    counted.slices = counted_slices_;
    const int shared_bytes = counted.shared_bytes() + (clustered ? 0 : inbox_bytes_);
    k.shared_bytes = static_cast<std::size_t>(shared_bytes);
    // Blocks of two kernels that overlap would gather on some multiprocessors if both fitted there.
    if (clustered) k.shared_bytes = std::max<std::size_t>(k.shared_bytes, device_.shared_bytes / 2 + 1024);
    k.overlaps = clustered;
    const int group = clustered ? cluster_blocks : group_size_of(panel_blocks_);
    k.workspace_bytes = static_cast<std::size_t>(panels * (panel_blocks_ + ceil_div(panel_blocks_, group))) *
                        static_cast<std::size_t>(policy_.p * policy_.q * parts_of(policy_.type)) * sizeof(double);
    if (t_.warpgroups) k.workspace_bytes += k.grid * static_cast<std::size_t>(counted.kept_bytes());
    k.budget.registers = register_cap(t_.residents * (t_.warps() + t_.producers));
    k.budget.shared_bytes = 1024;
    return k;
  }

  const InnerProblem& problem_;
  const BlockLimits& device_;
  InnerTiling t_;
  InnerShape shape_;
  InnerPolicy policy_;
  bool narrow_ = false, flushes_ = false;  ///< sums begin in float32; they move to float64 now and then
  int counted_slices_ = 1, inbox_bytes_ = 0, room_ = 0, chunk_ = 0, stages_ = 0, panel_blocks_ = 1;
};

}  // namespace

KernelPlan plan_inner(const InnerProblem& problem, const BlockLimits& device, const InnerTiling& tiling) {
  return InnerFit(problem, device, tiling).plan();
}

}  // namespace ts::inline v0::cuda
