// A pass that leaves out what Pruning shows to be farther. Internal to the room.
#pragma once

#include <array>

#include "tallskinny/gemm/assign/scores/listed_pass.hpp"
#include "tallskinny/gemm/assign/scores/pruning.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::BatchOfHeads, assign_cpu::head_group, assign_cpu::head_piece, assign_cpu::no_bound;

/// A pass over pieces of head_piece rows:
///   1. bounds move with centroids; rows that some group may concern are open;
///   2. for open rows, the distance to the centroid of the label, in all columns;
///   3. heads of open rows meet those of the groups that concern them: survivors are listed;
///   4. survivors are met in all columns, and what that leaves is decided as in any other pass.
/// Rows without a label, and those with long lists, are met by all centroids.
class PrunedPass : protected ListedPass {
 public:
  using ListedPass::settle_moves;
  PrunedPass(const Context& ctx, const AssignArguments& of)
      : ListedPass(ctx, of.x, of.moments, of.centroids, Scores::float32),
        of_(*of.pruning.all),
        first_(of.pruning.first) {
    longest_ = longest_list(of_.groups_ * head_group), step_ = longest_ + 2 * head_group;
  }

  struct Scratch : ListedPass::Scratch {
    std::vector<std::int32_t> products;
    std::size_t first;  ///< row of the piece
    std::array<float, head_piece> own, margin;
    std::array<float, head_piece> whole_unit, whole_norm, whole_error;  ///< of bytes; ||bytes||, ||x - bytes||, at most
    std::array<std::int32_t, head_piece> whole_start;
  };
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    static_cast<ListedPass::Scratch&>(s) = ListedPass::scratch(of_.whole_columns_, false);
    s.products.resize(static_cast<std::size_t>(step_));
    s.rows.resize(std::max<std::size_t>(s.rows.size(), head_piece + 1));
    return s;
  }

  void piece(index_t p, const Pass& to, ClusterSums* sums, Scratch& s) const {
    const index_t i0 = p * head_piece;
    s.first = static_cast<std::size_t>(first_ + i0);
    const auto count = static_cast<int>(std::min<index_t>(head_piece, x_.rows() - i0));
    const std::uint64_t there = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    float* const upper = of_.upper_.data() + first_ + i0;
    std::uint64_t without = 0;
    for (int r = 0; r < count; ++r) {
      const std::int32_t label = to.labels[static_cast<std::size_t>(i0 + r)];
      if (label < 0)
        without |= std::uint64_t{1} << r;
      else
        upper[r] = (upper[r] + of_.moved_[static_cast<std::size_t>(label)]) * above;
    }
    std::uint64_t open = without;
    for (index_t g = 0; g < of_.groups_; ++g)
      open |= kernels_.pruning.move_bounds(bounds(i0, g), of_.group_moved_[static_cast<std::size_t>(g)], upper);
    open &= there;
    s.stats.skipped += count - std::popcount(open);
    for_each_bit(open & ~without, [&](int r) { meet_own(i0 + r, r, to, upper[r], s); });
    const std::uint64_t overflown = meet_heads(i0, open & ~without, upper, s);
    for_each_bit(open & ~without & ~overflown, [&](int r) { settle(i0, r, to, sums, upper[r], s); });
    meet_all(i0, without | overflown, to, sums, upper, s);
  }

 private:
  static index_t longest_list(index_t places) {
    return places <= 2048 ? places : std::clamp<index_t>(places / 8, 1024, places);
  }

  static constexpr int most_rows = assign_cpu::most_head_rows;
  static constexpr double a_little_less = 1 - 0x1p-20;
  static constexpr float above = 1 + 0x1p-22F;

  [[nodiscard]] std::uint16_t* bounds(index_t i0, index_t g) const {
    return of_.bounds_.data() + ((first_ + i0) / head_piece * of_.groups_ + g) * head_piece;
  }

  /// The score of the centroid of the label, and what makes a row's batch of it.
  void meet_own(index_t i, int r, const Pass& to, float& upper, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r), row = static_cast<std::size_t>(first_ + i);
    const std::int32_t label = to.labels[static_cast<std::size_t>(i)];
    kernels_.pruning.scaled_row(x_, i, i, shift_.packing, s.row.data(), &s.x(r, 0));
    kernels_.pruning.listed_scores(&s.x(r, 0), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                   &label, 1, &s.own[at]);
    const auto square = static_cast<double>(of_.square_[row]), norm = std::sqrt(square);
    const double head = of_.head_[row], error = of_.error_[row], tail = of_.tail_[row];
    const double radius =
        std::sqrt(of_.of_head_ * head * head + of_.of_error_ * error * error + tail * tail) / a_little_less;
    const float margin = margin_of(norm);
    // What rounding to float32 takes from a least score.
    const double slack = 0x1p-20 * (of_.largest_norm_ * (of_.largest_norm_ + norm) + radius * of_.largest_radius_);
    s.radius[at] = static_cast<float>(radius) * above;
    s.scale[at] = of_.unit_[row];
    s.margin[at] = margin;
    s.limit[at] = limit_of(s.own[at], margin, float_above(2 * slack));
    s.floor[at] = static_cast<float>(square * a_little_less - 2 * slack);
    s.floor[at] -= std::abs(s.floor[at]) * 0x1p-22F;
    upper = distance_below(square, s.own[at], s.margin[at]);
    const Bytes all = assign_detail::round_to_bytes(kernels_.pruning, &s.x(r, 0), of_.whole_columns_, norm,
                                                    s.bytes.data() + r * of_.whole_columns_);
    s.whole_unit[at] = static_cast<float>(all.unit), s.whole_start[at] = -all.sum * kernels_.pruning.offset;
    s.whole_norm[at] = float_above(all.norm), s.whole_error[at] = float_above(all.error + 0x1p-23 * norm);
  }
  static float limit_of(float score, float margin, float slack) {
    const auto limit =
        static_cast<float>(static_cast<double>(score) + static_cast<double>(margin) + static_cast<double>(slack));
    // A copy of an earlier centroid has an infinite score, as what fills up the last group.
    return std::min(limit + std::abs(limit) * 0x1p-22F, std::numeric_limits<float>::max());
  }
  /// An upper bound of the distance of a centroid with that score.
  static float distance_below(double square, float score, float margin) {
    const double most = square + 2 * (static_cast<double>(score) + static_cast<double>(margin));
    return static_cast<float>(std::sqrt(std::max(0.0, most)) / a_little_less) * above;
  }

  /// Lists survivors of the rows `open`; returns those with too many.
  std::uint64_t meet_heads(index_t i0, std::uint64_t open, const float* upper, Scratch& s) const {
    std::uint64_t overflown = 0;
    for_each_bit(open, [&](int r) { s.end[static_cast<std::size_t>(r)] = list(r, s); });
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    for (index_t g = 0; g < of_.groups_ && open != 0; ++g) {
      std::uint64_t concerned = open & kernels_.pruning.move_bounds(bounds(i0, g), 0, upper);
      s.stats.headed += std::popcount(concerned) * static_cast<index_t>(head_group);
      const assign_cpu::GroupOfHeads group = of_.groups_of_heads_.group(g);
      while (concerned != 0) {
        Batch b(*this, concerned, s);
        const BatchOfHeads batch = b.heads();
        kernels_.pruning.survivors(group, batch, of_.columns_);
        kernels_.pruning.put_bounds(batch, b.rows, bounds(i0, g));
        for (int q = 0; q < b.rows; ++q) {
          s.end[static_cast<std::size_t>(b.place[q])] = b.end[q];
          if (!overflows(i0, b.place[q], s)) continue;
          overflown |= std::uint64_t{1} << b.place[q];
          open &= ~overflown;
        }
      }
    }
    return overflown;
  }
  /// Whether a list has become too long, and stays so.
  bool overflows(index_t i0, int r, Scratch& s) const {
    const std::int32_t* const& end = s.end[static_cast<std::size_t>(r)];
    if (end - list(r, s) <= longest_) return false;
    shorten(i0, r, s);
    return end - list(r, s) > longest_ / 2;
  }

  /// Rows that meet a group together: those of the first bits, which are taken from `concerned`.
  struct Batch {
    std::int32_t place[most_rows], start[most_rows];
    const std::int8_t* head[most_rows];
    float scale[most_rows], radius[most_rows], limit[most_rows], floor[most_rows], least[most_rows];
    std::int32_t* end[most_rows];
    int rows = 0;

    Batch(const PrunedPass& pass, std::uint64_t& concerned, Scratch& s) {
      for (int q = 0; q < pass.kernels_.pruning.rows; ++q) {
        const int r = concerned != 0 ? std::countr_zero(concerned) : place[0];
        const auto at = static_cast<std::size_t>(r), row = s.first + at;
        place[q] = r, head[q] = pass.of_.bytes_.data() + static_cast<index_t>(row) * pass.of_.columns_,
        start[q] = pass.of_.start_[row];
        scale[q] = s.scale[at], radius[q] = s.radius[at], limit[q] = s.limit[at], floor[q] = s.floor[at];
        end[q] = concerned != 0 ? s.end[at] : pass.list(head_piece, s);
        rows += concerned != 0 ? 1 : 0;
        concerned &= concerned - (concerned != 0 ? 1 : 0);
      }
    }
    [[nodiscard]] BatchOfHeads heads() {
      return {head, start, scale, radius, floor, place, limit, end, least, 0, rows};
    }
  };

  /// Takes from the list of a row what all columns in 8 bits show to be farther than the centroid of its label.
  void shorten(index_t i0, int r, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    std::int32_t *const begin = list(r, s), *kept = begin, *const ids = s.ids.data();
    const index_t count = s.end[at] - begin;
    s.stats.shortened += count;
    for (index_t q = 0; q < count; ++q) ids[q] = of_.number_[static_cast<std::size_t>(begin[q])];
    kernels_.pruning.listed_products(s.bytes.data() + r * of_.whole_columns_, of_.whole_columns_, of_.whole_.data(),
                                     ids, count, s.products.data());
    std::int32_t group = -1;
    float least = no_bound;
    const auto lower_bound = [&] {
      if (least == no_bound) return;
      std::uint16_t& bound = bounds(i0, group)[r];
      const float square = s.floor[at] + 2 * least;
      bound = std::min(bound, half_below(std::sqrt(std::max(0.0F, square)) * static_cast<float>(a_little_less)));
    };
    for (index_t q = 0; q < count; ++q) {
      const std::int32_t place = begin[q];
      const auto m = static_cast<std::size_t>(ids[q]);
      const auto product = static_cast<float>(s.products[static_cast<std::size_t>(q)] + s.whole_start[at]);
      const float error = s.whole_norm[at] * of_.whole_error_[m] + s.whole_error[at] * of_.whole_norm_[m];
      const float lower =
          centroids_.half_norms[m] - product * (s.whole_unit[at] * of_.whole_unit_[m]) - error * 1.000001F;
      if (lower <= s.limit[at]) {
        *kept++ = place;
        continue;
      }
      if (place / head_group != group) lower_bound(), group = place / head_group, least = no_bound;
      least = std::min(least, lower);
    }
    lower_bound();
    s.end[at] = kept;
  }

  /// The label of a row whose survivors are listed.
  void settle(index_t i0, int r, const Pass& to, ClusterSums* sums, float& upper, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    const index_t i = i0 + r;
    const std::int32_t own = to.labels[static_cast<std::size_t>(i)];
    std::int32_t* const ids = s.ids.data();
    index_t count = 0;
    if (s.end[at] - list(r, s) > 1) shorten(i0, r, s);
    for (const std::int32_t* place = list(r, s); place != s.end[at]; ++place) {
      ids[count] = of_.number_[static_cast<std::size_t>(*place)];
      count += ids[count] != own ? 1 : 0;
    }
    if (count == 0) return;
    s.stats.met += count;
    float* const scores = s.scores.data();
    kernels_.pruning.listed_scores(&s.x(r, 0), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                   ids, count, scores);
    ids[count] = own, scores[count] = s.own[at], ++count;
    const std::int32_t nearest = decide_listed(i, ids, count, s.margin[at], to, s);
    for (index_t q = 0; q < count; ++q) {
      if (ids[q] == nearest) {
        upper = distance_below(of_.square_[static_cast<std::size_t>(first_ + i)], scores[q], s.margin[at]);
        continue;
      }
      const float least = s.floor[at] + 2 * (scores[q] - s.margin[at]);
      std::uint16_t& bound = bounds(i0, of_.place_[static_cast<std::size_t>(ids[q])] / head_group)[r];
      bound = std::min(bound, half_below(std::sqrt(std::max(0.0F, least)) * static_cast<float>(a_little_less)));
    }
    relabel(i, nearest, to, sums, s);
  }

  /// Rows that meet every centroid; nothing is known of them afterwards.
  void meet_all(index_t i0, std::uint64_t which, const Pass& to, ClusterSums* sums, float* upper, Scratch& s) const {
    index_t count = 0;
    for_each_bit(which, [&](int r) {
      s.rows[static_cast<std::size_t>(count++)] = i0 + r;
      upper[r] = no_bound;
      for (index_t g = 0; g < of_.groups_; ++g) bounds(i0, g)[r] = 0;
    });
    s.stats.met += count * centroids_.k;
    if (constexpr index_t few = 6; count <= few && to.proven) {
      for (index_t q = 0; q < count; ++q) {
        const index_t i = s.rows[static_cast<std::size_t>(q)];
        relabel(i, resolve(i, s), to, sums, s);
      }
      return;
    }
    for (index_t r = 0; r < count; r += score_.rows) tile(s.rows.data() + r, count - r, false, to, sums, s);
  }

  Pruning& of_;
  index_t first_;
};

}  // namespace ts::inline v0::assign_detail
