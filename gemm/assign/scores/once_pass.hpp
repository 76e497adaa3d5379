// A pass over rows that come once. Internal to the room.
#pragma once

#include "tallskinny/gemm/assign/scores/pruned_pass.hpp"

namespace ts::inline v0::assign_detail {

/// PrunedPass without bounds of groups, of rows whose labels are guesses. What heads have as nearer than all before is
/// met in all columns, and lowers the limit of the row, so that later groups leave less; what was listed before is
/// looked at again in the end.
class OncePass : public PrunedPass {
 public:
  using PrunedPass::PrunedPass;

  void piece(index_t p, const Pass& to, ClusterSums* sums, Scratch& s) const {
    const index_t i0 = p * head_piece;
    const auto count = static_cast<int>(std::min<index_t>(head_piece, x_.rows() - i0));
    const std::uint64_t there = count == head_piece ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    std::array<float, head_piece> upper;
    s.first = static_cast<std::size_t>(first_ + i0);
    for_each_bit(there, [&](int r) { meet_own(i0 + r, r, to, upper[static_cast<std::size_t>(r)], s); });
    const std::uint64_t overflown = meet(i0, there, to, s);
    for_each_bit(there & ~overflown, [&](int r) {
      filter(r, s);
      meet_first(i0 + r, r, to, s);
      settle(i0, r, to, sums, upper[static_cast<std::size_t>(r)], s);
    });
    meet_all(i0, overflown, to, sums, upper.data(), s);
  }

 private:
  /// Lists what may be nearest; returns the rows with too many.
  std::uint64_t meet(index_t i0, std::uint64_t open, const Pass& to, Scratch& s) const {
    std::uint64_t overflown = 0;
    for_each_bit(open, [&](int r) {
      const auto at = static_cast<std::size_t>(r);
      s.end[at] = list(r, s), s.near[at] = no_bound;
      s.stats.headed += centroids_.k;
    });
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    for (index_t g = 0; g < of_.groups_; ++g) {
      const assign_cpu::GroupOfHeads group = of_.groups_of_heads_.group(g);
      for (std::uint64_t concerned = open & ~overflown; concerned != 0;) {
        Batch b(*this, concerned, s);
        BatchOfHeads batch = b.heads();
        batch.floor = b.slack;
        batch.to_lower = reinterpret_cast<std::int32_t*>(s.lowers.data()) - s.lists.data();
        kernels_.pruning.nearest(group, batch, of_.columns_);
        for (int q = 0; q < b.rows; ++q) {
          const auto at = static_cast<std::size_t>(b.place[q]);
          std::int32_t* const from = s.end[at];
          s.end[at] = b.end[q], s.limit[at] = b.limit[q];
          if (from != b.end[q]) look(i0 + b.place[q], b.place[q], from, to, s);
          if (s.end[at] - list(b.place[q], s) <= longest_) continue;
          filter(b.place[q], s);
          if (s.end[at] - list(b.place[q], s) > longest_ / 2) meet_first(i0 + b.place[q], b.place[q], to, s);
          if (overflows(i0, b.place[q], s)) overflown |= std::uint64_t{1} << b.place[q];
        }
      }
    }
    return overflown;
  }

  /// At what was listed from `from` on.
  void look(index_t i, int r, const std::int32_t* from, const Pass& to, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    std::int32_t found = -1;
    for (const std::int32_t* place = from; place != s.end[at]; ++place) {
      const float near = s.lowers[static_cast<std::size_t>(place - s.lists.data())] +
                         s.radius[at] * of_.groups_of_heads_.radius[static_cast<std::size_t>(*place)];
      if (near < s.near[at]) s.near[at] = near, found = of_.number_[static_cast<std::size_t>(*place)];
    }
    if (found >= 0) meet_few(i, r, &found, 1, to, s);
  }

  /// The centroids of a list whose least scores are the least.
  void meet_first(index_t i, int r, const Pass& to, Scratch& s) const {
    const std::int32_t* const begin = list(r, s);
    const float* const lowers = s.lowers.data() + (begin - s.lists.data());
    const index_t count = s.end[static_cast<std::size_t>(r)] - begin;
    if (count <= 2 * few) return;
    std::array<float, few> least;
    std::array<std::int32_t, few> those{};
    least.fill(no_bound);
    for (index_t q = 0; q < count; ++q) {
      if (lowers[q] >= least.back()) continue;
      std::size_t to_place = few - 1;
      for (; to_place > 0 && lowers[q] < least[to_place - 1]; --to_place)
        least[to_place] = least[to_place - 1], those[to_place] = those[to_place - 1];
      least[to_place] = lowers[q], those[to_place] = of_.number_[static_cast<std::size_t>(begin[q])];
    }
    meet_few(i, r, those.data(), few, to, s);
    filter(r, s);
  }

  /// In all columns: the nearest becomes the label, where it is nearer than the one before.
  void meet_few(index_t i, int r, const std::int32_t* those, int count, const Pass& to, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    std::array<float, few> scores;
    kernels_.pruning.listed_scores(&s.x(r, 0), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                   those, count, scores.data());
    s.stats.met += count;
    const auto best =
        static_cast<std::size_t>(std::min_element(scores.begin(), scores.begin() + count) - scores.begin());
    if (scores[best] >= s.own[at]) return;
    s.own[at] = scores[best], to.labels[static_cast<std::size_t>(i)] = those[best];
    s.limit[at] = std::min(s.limit[at], limit_of(s.own[at], s.margin[at], s.slack[at]));
  }

  static constexpr int few = 4;
};

}  // namespace ts::inline v0::assign_detail
