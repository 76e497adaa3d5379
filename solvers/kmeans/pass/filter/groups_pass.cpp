// Bounds of 32 centroids each: groups that bounds leave are met by all their rows at once.
#include "tallskinny/solvers/kmeans/pass/filter/bounds_pass.hpp"

namespace ts::inline v0::assign_detail {

namespace {

class GroupsPass : public BoundsPass {
 public:
  GroupsPass(const Context& ctx, const AssignArguments& of) : BoundsPass(ctx, of) {}

  [[nodiscard]] Scratch scratch() const {
    Scratch s = BoundsPass::scratch();
    s.rows.resize(std::max<std::size_t>(s.rows.size(), head_piece + 1));
    return s;
  }

  void piece(index_t i0, index_t count, Scratch& s) const {
    move_uppers(i0, count);
    std::uint64_t open = 0, without = 0;
    for (index_t r = 0; r < count; ++r)
      if (label(i0 + r) < 0) without |= std::uint64_t{1} << r;
    for (index_t g = 0; g < groups(); ++g)
      open |= kernels_.pruning.move_bounds(bounds(i0, g), group_moved(g), upper(i0));
    open &= first_bits(count) & ~without;
    s.stats.skipped += count - std::popcount(open | without);
    for_each_bit(open, [&](int r) { begin_row(i0, r, s); });
    const std::uint64_t overflown = meet_groups(i0, open, s);
    std::uint64_t left = open & ~overflown;
    for_each_bit(left, [&](int r) {
      left &= ~(std::uint64_t{1} << r);
      settle(i0, r, i0 + (left != 0 ? std::countr_zero(left) : r), s);
    });
    meet_all(i0, without | overflown, s);
  }

 private:
  /// Rows that meet a group together: those of the first bits, which are taken from `concerned`.
  struct Batch {
    static constexpr int most = assign_cpu::most_head_rows;
    std::int32_t place[most], start[most];
    const std::int8_t* head[most];
    float scale[most], radius[most], limit[most], floor[most], least[most];
    std::int32_t* end[most];
    int rows = 0;

    Batch(const GroupsPass& pass, index_t i0, std::uint64_t& concerned, Scratch& s) {
      for (int q = 0; q < pass.kernels_.pruning.rows; ++q) {
        const bool there = concerned != 0;
        const int r = there ? std::countr_zero(concerned) : place[0];
        const auto at = static_cast<std::size_t>(r);
        place[q] = r, head[q] = pass.bytes(i0 + r), start[q] = s.start[at];
        scale[q] = s.scale[at], radius[q] = s.radius[at], limit[q] = s.limit[at], floor[q] = s.least_square[at];
        end[q] = there ? s.end[at] : pass.list(head_piece, s);
        rows += there ? 1 : 0;
        concerned &= concerned - (there ? 1 : 0);
      }
    }
    [[nodiscard]] BatchOfHeads rows_of_heads() {
      return {head, start, scale, radius, floor, place, limit, end, least, 0, rows};
    }
  };

  /// Lists the centroids that may be nearest to the rows `open`; returns those rows for which there are too many.
  std::uint64_t meet_groups(index_t i0, std::uint64_t open, Scratch& s) const {
    std::uint64_t overflown = 0;
    for_each_bit(open, [&](int r) { s.end[static_cast<std::size_t>(r)] = list(r, s); });
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    for (index_t g = 0; g < groups() && open != 0; ++g) {
      std::uint64_t concerned = open & kernels_.pruning.move_bounds(bounds(i0, g), 0, upper(i0));
      s.stats.coarse += std::popcount(concerned) * static_cast<index_t>(head_group);
      while (concerned != 0) {
        Batch b(*this, i0, concerned, s);
        const BatchOfHeads batch = b.rows_of_heads();
        kernels_.pruning.survivors(groups_.group(g), batch, columns_);
        kernels_.pruning.put_bounds(batch, b.rows, bounds(i0, g));
        for (int q = 0; q < b.rows; ++q) {
          s.end[static_cast<std::size_t>(b.place[q])] = b.end[q];
          if (b.end[q] - list(b.place[q], s) <= longest_) continue;
          overflown |= std::uint64_t{1} << b.place[q];
          open &= ~overflown;
        }
      }
    }
    return overflown;
  }

  /// The label of a row whose candidates are listed. @param next row that will be read
  void settle(index_t i0, int r, index_t next, Scratch& s) const {
    const std::int32_t own = label(i0 + r);
    std::int32_t* const ids = s.ids.data();
    index_t count = 0;
    for (const std::int32_t* at = list(r, s); at != s.end[static_cast<std::size_t>(r)]; ++at) {
      ids[count] = number(*at);
      count += ids[count] != own ? 1 : 0;
    }
    if (count == 0) return;
    ids[count++] = own;
    const std::int32_t nearest =
        nearest_listed(i0, r, next, ids, count, s, [&](std::int32_t m, bool is_nearest, std::uint16_t least) {
          if (is_nearest) return;
          std::uint16_t& bound = bounds(i0, place(m) / head_group)[r];
          bound = std::min(bound, least);
        });
    relabel(i0 + r, nearest, s);
  }

  /// Rows that meet every centroid; nothing is known of them afterwards.
  void meet_all(index_t i0, std::uint64_t which, Scratch& s) const {
    index_t count = 0;
    for_each_bit(which, [&](int r) {
      s.rows[static_cast<std::size_t>(count++)] = i0 + r;
      upper(i0)[r] = no_bound;
      for (index_t g = 0; g < groups(); ++g) bounds(i0, g)[r] = 0;
    });
    s.stats.met += count * centroids_.k;
    for (index_t r = 0; r < count; r += score_.rows) tile(s.rows.data() + r, count - r, false, s);
  }
};

}  // namespace

AssignStats assign_by_groups(const Context& ctx, const AssignArguments& of) { return run_pieces<GroupsPass>(ctx, of); }

}  // namespace ts::inline v0::assign_detail
