// Bounds of single centroids, where rows are wide: pairs that bounds leave are met one by one.
#include <numeric>

#include "tallskinny/solvers/kmeans/pass/filter/bounds_pass.hpp"

namespace ts::inline v0::assign_detail {

namespace {

class PairsPass : public BoundsPass {
 public:
  PairsPass(const Context& ctx, const AssignArguments& of)
      : BoundsPass(ctx, of), quads_(groups_.quads), order_(static_cast<std::size_t>(centroids_.k)) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) { return moved(a) > moved(b); });
    parallel_for(ctx.thread_count(), centroids_.k, [&](index_t q) {
      const index_t m = order_[static_cast<std::size_t>(q)];
      for (index_t j = 0; j < columns_; j += 4)
        std::copy_n(quad(groups_.quads, columns_, m, j), 4, quad(quads_, columns_, q, j));
    });
  }

  struct Scratch : BoundsPass::Scratch {
    std::vector<std::int32_t> products;     ///< of centroid m and row r at m head_piece + r
    std::vector<std::int32_t> ids;          ///< of centroids that meet few rows
    std::vector<std::uint64_t> own, asked;  ///< of each centroid: rows that have its label; that meet it
    std::vector<std::int32_t> candidates;   ///< k of each row
    std::array<index_t, head_piece> count;  ///< of candidates
  };
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    static_cast<BoundsPass::Scratch&>(s) = BoundsPass::scratch();
    const auto k = static_cast<std::size_t>(centroids_.k);
    s.products.resize(k * head_piece), s.candidates.resize(k * head_piece);
    s.ids.resize(k), s.own.resize(k), s.asked.resize(k);
    s.scores.resize(std::max(s.scores.size(), k));
    return s;
  }

  void piece(index_t i0, index_t count, Scratch& s) const {
    const index_t k = centroids_.k;
    move_uppers(i0, count);
    std::fill(s.own.begin(), s.own.end(), 0);
    for (index_t r = 0; r < count; ++r)
      if (const std::int32_t own = label(i0 + r); own >= 0)
        s.own[static_cast<std::size_t>(own)] |= std::uint64_t{1} << r;
    std::uint64_t open = 0;
    for (index_t m = 0; m < k; ++m)
      open |= kernels_.pruning.move_bounds(bounds(i0, m), moved(static_cast<std::int32_t>(m)), upper(i0)) &
              ~s.own[static_cast<std::size_t>(m)];
    open &= first_bits(count);
    s.stats.skipped += count - std::popcount(open);
    if (open == 0) return;
    for_each_bit(open, [&](int r) {
      const std::int32_t product = begin_row(i0, r, s), own = label(i0 + r);
      if (own >= 0) products(own, s)[r] = product;
    });
    for (index_t m = 0; m < k; ++m) {
      const auto at = static_cast<std::size_t>(m);
      s.asked[at] = kernels_.pruning.move_bounds(bounds(i0, m), 0, upper(i0)) & open & ~s.own[at];
    }
    meet(i0, s);
    const assign_cpu::RowsOfPairs rows = rows_of(s);
    for (index_t m = 0; m < k; ++m)
      if (s.asked[static_cast<std::size_t>(m)] != 0)
        kernels_.pairs.lower_limits(centroid(m), rows, products(m, s), s.asked[static_cast<std::size_t>(m)]);
    s.count.fill(0);
    for (index_t m = 0; m < k; ++m) {
      const std::uint64_t met = s.asked[static_cast<std::size_t>(m)] | (s.own[static_cast<std::size_t>(m)] & open);
      if (met == 0) continue;
      s.stats.coarse += std::popcount(met);
      for_each_bit(kernels_.pairs.settle(centroid(m), rows, products(m, s), met, bounds(i0, m)), [&](int r) {
        s.candidates[static_cast<std::size_t>(r * k + s.count[static_cast<std::size_t>(r)]++)] =
            static_cast<std::int32_t>(m);
      });
    }
    std::uint64_t several = 0;
    for_each_bit(open, [&](int r) {
      if (s.count[static_cast<std::size_t>(r)] > 1) several |= std::uint64_t{1} << r;
    });
    for_each_bit(open, [&](int r) {
      several &= ~(std::uint64_t{1} << r);
      settle(i0, r, i0 + (several != 0 ? std::countr_zero(several) : r), s);
    });
  }

 private:
  static std::int32_t* products(index_t m, Scratch& s) { return s.products.data() + m * head_piece; }

  void meet(index_t i0, Scratch& s) const {
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    index_t few = 0;
    for (index_t g = 0; g < groups_.groups(); ++g) {
      const index_t from = g * head_group, count = std::min<index_t>(head_group, centroids_.k - from);
      const auto group = std::span(order_).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
      std::uint64_t any = 0;
      int pairs = 0;
      for (const std::int32_t m : group) {
        const std::uint64_t asked = s.asked[static_cast<std::size_t>(m)];
        any |= asked, pairs += std::popcount(asked);
      }
      if (pairs < kernels_.pairs.few * head_group * std::popcount(any)) {
        for (const std::int32_t m : group)
          if (s.asked[static_cast<std::size_t>(m)] != 0) s.ids[static_cast<std::size_t>(few++)] = m;
      } else if (any != 0) {
        meet_group(i0, quads_.data() + from * columns_, group, any, s);
        for (const std::int32_t m : group) s.asked[static_cast<std::size_t>(m)] = any;
      }
    }
    kernels_.pairs.of_pairs(
        {whole_.data(), columns_, s.ids.data(), few, s.asked.data(), bytes(i0), stride(), s.start.data()},
        s.products.data());
  }

  /// All centroids of a group.
  void meet_group(index_t i0, const std::uint8_t* quads, std::span<const std::int32_t> group, std::uint64_t rows,
                  Scratch& s) const {
    constexpr int most = assign_cpu::most_head_rows;
    int place[most] = {};
    const std::int8_t* row[most];
    std::int32_t start[most], found[most * head_group];
    while (rows != 0) {
      int some = 0;
      for (; some < kernels_.pruning.rows && rows != 0; ++some, rows &= rows - 1) place[some] = std::countr_zero(rows);
      for (int q = 0; q < kernels_.pruning.rows; ++q) {
        const int r = place[q < some ? q : 0];
        row[q] = bytes(i0 + r), start[q] = s.start[static_cast<std::size_t>(r)];
      }
      kernels_.pairs.of_group(quads, columns_, row, some, start, found);
      for (std::size_t m = 0; m < group.size(); ++m)
        for (int q = 0; q < some; ++q) products(group[m], s)[place[q]] = found[q * head_group + static_cast<int>(m)];
    }
  }

  /// The label of a row whose candidates are listed. @param next row that has several
  void settle(index_t i0, int r, index_t next, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    const std::int32_t* const candidates = s.candidates.data() + r * centroids_.k;
    std::int32_t nearest = candidates[0];
    upper(i0)[r] = distance_below(square(i0 + r), s.limit[at]);
    if (s.count[at] > 1)
      nearest = nearest_listed(i0, r, next, candidates, s.count[at], s, [&](std::int32_t m, bool, std::uint16_t least) {
        std::uint16_t& bound = bounds(i0, m)[r];
        bound = std::max(bound, least);
      });
    relabel(i0 + r, nearest, s);
  }

  InLines<std::uint8_t> quads_;      ///< of groups in this order
  std::vector<std::int32_t> order_;  ///< those that moved most first: most rows meet them
};

}  // namespace

AssignStats assign_by_pairs(const Context& ctx, const AssignArguments& of) { return run_pieces<PairsPass>(ctx, of); }

}  // namespace ts::inline v0::assign_detail
