#include "tallskinny/gemm/assign/scores/pairs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tallskinny/gemm/assign/scores/bytes_pass.hpp"

namespace ts::inline v0 {

using assign_cpu::head_group, assign_cpu::head_piece, assign_cpu::no_bound;
using assign_detail::BytesPass, assign_detail::float_above, assign_detail::for_each_bit, assign_detail::Pass;

bool PairBounds::possible(const Context& ctx, index_t d) {
  return assign_cpu::select(ctx.simd).pairs.few > 0 && d <= assign_detail::most_columns_of_bytes;
}

PairBounds::PairBounds(const Context& ctx, index_t rows, index_t k, const ColumnMoments& moments)
    : rows_(rows),
      d_(std::ssize(moments.shift)),
      columns_((d_ + 63) / 64 * 64),
      stride_((columns_ / 64 | 1) * 64),
      k_(k),
      pieces_((rows + head_piece - 1) / head_piece),
      moments_(moments),
      scale_(assign_detail::scoring_scale(HostView<const double>(nullptr, 0, d_), moments)),
      bytes_memory_(static_cast<std::size_t>(rows * stride_)),
      bounds_memory_(static_cast<std::size_t>(pieces_ * k * head_piece) * sizeof(std::uint16_t)),
      bytes_(static_cast<std::int8_t*>(bytes_memory_.data())),
      start_(static_cast<std::size_t>(rows)),
      upper_(static_cast<std::size_t>(pieces_ * head_piece), no_bound),
      bounds_(static_cast<std::uint16_t*>(bounds_memory_.data())) {
  expects(possible(ctx, d_), "bounds of pairs: the processor has no instructions for it, or rows are too wide");
  for (auto* of_row : {&unit_, &head_, &error_, &square_}) of_row->resize(static_cast<std::size_t>(rows));
}

void PairBounds::forget(const Context& ctx) {
  std::fill(upper_.begin(), upper_.end(), no_bound);
  parallel_ranges(ctx.thread_count(), pieces_, [&](index_t begin, index_t end) {
    std::fill(bounds_ + begin * k_ * head_piece, bounds_ + end * k_ * head_piece, std::uint16_t{0});
  });
}

void PairBounds::put(const Context& ctx, index_t first, const Rows& block) {
  expects(first >= 0 && first + block.rows() <= rows_ && block.cols() == d_, "bounds of pairs: these are other rows");
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  const assign_detail::PackedShift<float> shift(moments_, scale_, kernels.float32.lanes);
  parallel_ranges(ctx.thread_count(), block.rows(), [&](index_t begin, index_t end) {
    std::vector<float> x(static_cast<std::size_t>(columns_));
    std::vector<double> row(static_cast<std::size_t>(d_));
    for (index_t i = begin; i < end; ++i) {
      const auto to = static_cast<std::size_t>(first + i);
      kernels.pruning.scaled_row(block, i, i, shift.packing, row.data(), x.data());
      const double square = kernels.pruning.square(x.data(), d_);
      const double norm = std::sqrt(square) * (1 + 0x1p-20);
      const assign_detail::Bytes all =
          assign_detail::round_to_bytes(kernels.pruning, x.data(), columns_, norm, bytes_ + (first + i) * stride_);
      unit_[to] = static_cast<float>(all.unit), start_[to] = -all.sum * kernels.pruning.offset;
      head_[to] = float_above(all.norm), error_[to] = float_above(all.error + 0x1p-23 * norm);
      square_[to] = float_above(square);
    }
  });
}

void PairBounds::begin_pass(const Context& ctx, HostView<const double> centroids) {
  expects(centroids.rows() == k_ && centroids.cols() == d_, "bounds of pairs: the centroids have another shape");
  const bool held = serves_ && !copies_ && scaled_.rows() == k_;
  serves_ = assign_detail::scoring_scale(centroids, moments_) == scale_;
  if (!serves_) {
    scaled_ = {};
    return;
  }
  Matrix<double> scaled = assign_detail::scaled_centroids(ctx, centroids, moments_, scale_, std::move(before_));
  if (held)
    moved_ = assign_detail::steps_between(ctx, scaled_.cview(), scaled.cview());
  else
    moved_.assign(static_cast<std::size_t>(k_), 0), forget(ctx);
  before_ = std::exchange(scaled_, std::move(scaled));
  copies_ = false;  // until the pass finds one
}

/// Pieces of head_piece rows, as PrunedPass has them:
///   1. bounds move with centroids; rows that some centroid but their own may concern are open;
///   2. open rows meet the centroid of their label in 8 bits, which lowers their upper bound;
///   3. pairs that bounds leave are met in 8 bits, one by one, or whole groups of centroids where most are left;
///   4. centroids whose least score is not above the least of all greatest ones are met in float32.
/// A row without a label meets every centroid.
class PairsPass : public BytesPass {
 public:
  PairsPass(const Context& ctx, const AssignArguments& of)
      : BytesPass(ctx, of),
        of_(*of.pruning.pairs),
        first_(of.pruning.first),
        whole_(static_cast<std::size_t>(centroids_.k * columns_)),
        quads_(groups_.quads),
        order_(static_cast<std::size_t>(centroids_.k)) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return of_.moved_[static_cast<std::size_t>(a)] > of_.moved_[static_cast<std::size_t>(b)];
    });
    const auto quad = [&](auto& quads, index_t place, index_t j) {
      return quads.data() + place / head_group * head_group * columns_ + (j * head_group + place % head_group * 4);
    };
    parallel_for(ctx.thread_count(), centroids_.k, [&](index_t q) {
      const index_t m = order_[static_cast<std::size_t>(q)];
      for (index_t j = 0; j < columns_; j += 4) {
        std::copy_n(quad(groups_.quads, m, j), 4, whole_.data() + m * columns_ + j);
        std::copy_n(quad(groups_.quads, m, j), 4, quad(quads_, q, j));
      }
    });
    // Scores of copies are infinite, which their distances are not.
    of_.copies_ = of_.copies_ || std::any_of(centroids_.half_norms.begin(), centroids_.half_norms.end(),
                                             [](float half) { return std::isinf(half); });
  }

  struct Scratch : BytesPass::Scratch {
    std::vector<std::int32_t> products;     ///< of centroid m and row r at m head_piece + r
    std::vector<std::int32_t> ids;          ///< of centroids that meet few rows
    std::vector<std::uint64_t> own, asked;  ///< of each centroid: rows that have its label; that meet it
    std::vector<std::int32_t> candidates;   ///< k of each row
    std::array<float, head_piece> least_square;
    std::array<index_t, head_piece> count;  ///< of candidates
  };
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    static_cast<BytesPass::Scratch&>(s) = BytesPass::scratch();
    const auto k = static_cast<std::size_t>(centroids_.k);
    s.products.resize(k * head_piece), s.candidates.resize(k * head_piece);
    s.ids.resize(k);
    s.own.resize(k), s.asked.resize(k);
    s.scores.resize(std::max(s.scores.size(), k));
    for (auto* of_row : {&s.scale, &s.radius, &s.limit, &s.floor, &s.least_square}) of_row->fill(0);
    return s;
  }

  void piece(index_t p, const Pass& to, ClusterSums* sums, Scratch& s) const {
    const index_t i0 = p * head_piece, k = centroids_.k;
    const auto count = static_cast<int>(std::min<index_t>(head_piece, x_.rows() - i0));
    float* const upper = of_.upper_.data() + first_ + i0;
    std::fill(s.own.begin(), s.own.end(), 0);
    for (int r = 0; r < count; ++r) {
      const std::int32_t label = to.labels[static_cast<std::size_t>(i0 + r)];
      if (label < 0) {
        upper[r] = no_bound;
        continue;
      }
      upper[r] = (upper[r] + of_.moved_[static_cast<std::size_t>(label)]) * (1 + 0x1p-22F);
      s.own[static_cast<std::size_t>(label)] |= std::uint64_t{1} << r;
    }
    std::uint64_t open = 0;
    for (index_t m = 0; m < k; ++m) {
      const auto at = static_cast<std::size_t>(m);
      open |= kernels_.pruning.move_bounds(bounds(i0, m), of_.moved_[at], upper) & ~s.own[at];
    }
    if (count < head_piece) open &= (std::uint64_t{1} << count) - 1;
    s.stats.skipped += count - std::popcount(open);
    if (open == 0) return;
    for_each_bit(open, [&](int r) { begin_row(i0, r, to.labels[static_cast<std::size_t>(i0 + r)], upper[r], s); });
    for (index_t m = 0; m < k; ++m) {
      const auto at = static_cast<std::size_t>(m);
      s.asked[at] = kernels_.pruning.move_bounds(bounds(i0, m), 0, upper) & open & ~s.own[at];
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
      s.stats.headed += std::popcount(met);
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
      settle(i0, r, several != 0 ? std::countr_zero(several) : r, to, sums, upper[r], s);
    });
  }

 private:
  [[nodiscard]] std::uint16_t* bounds(index_t i0, index_t m) const {
    return of_.bounds_ + ((first_ + i0) / head_piece * of_.k_ + m) * head_piece;
  }
  [[nodiscard]] const std::int8_t* bytes(index_t i) const { return of_.bytes_ + (first_ + i) * of_.stride_; }
  static std::int32_t* products(index_t m, Scratch& s) { return s.products.data() + m * head_piece; }
  [[nodiscard]] assign_cpu::CentroidOfPairs centroid(index_t m) const {
    const auto at = static_cast<std::size_t>(m);
    return {groups_.half_norms[at], groups_.scale[at], groups_.radius[at]};
  }
  static assign_cpu::RowsOfPairs rows_of(Scratch& s) {
    return {s.scale.data(), s.radius.data(), s.floor.data(), s.least_square.data(), s.limit.data()};
  }
  /// An upper bound of the distance of a centroid whose score is at most that.
  static float distance_below(double square, float score) {
    constexpr double more = 1 + 0x1p-20;
    return static_cast<float>(std::sqrt(std::max(0.0, square * more + 2 * static_cast<double>(score))) * more);
  }

  /// An upper bound of the score of a centroid whose distance is at most that.
  static float score_below(double square, float distance) {
    constexpr double less = 1 - 0x1p-20, more = 1 + 0x1p-20;
    const double score = (static_cast<double>(distance) * static_cast<double>(distance) * more - square * less) / 2;
    return static_cast<float>(score) + static_cast<float>(std::abs(score)) * 0x1p-22F;
  }

  /// What row i0 + r has in a batch, and the product with the centroid of its label.
  void begin_row(index_t i0, int r, std::int32_t label, float& upper, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r), row = static_cast<std::size_t>(first_ + i0 + r);
    const double head = of_.head_[row], error = of_.error_[row], square = of_.square_[row];
    const double radius = std::sqrt(weight_ * head * head + error * error), norm = std::sqrt(square) * (1 + 0x1p-20);
    s.norm[at] = norm, s.scale[at] = of_.unit_[row], s.start[at] = of_.start_[row];
    s.radius[at] = float_above(radius * (1 + 0x1p-20)), s.floor[at] = rounding_of(norm, radius);
    s.least_square[at] = static_cast<float>(square * (1 - 0x1p-20) - static_cast<double>(s.floor[at]));
    s.least_square[at] -= std::abs(s.least_square[at]) * 0x1p-22F;
    s.limit[at] = std::numeric_limits<float>::max();
    if (label < 0) return;
    const std::uint64_t one = std::uint64_t{1} << r;
    std::int32_t product;
    kernels_.pruning.listed_products(bytes(i0 + r), columns_, whole_.data(), &label, 1, &product);
    products(label, s)[r] = s.start[at] + product;
    kernels_.pairs.lower_limits(centroid(label), rows_of(s), products(label, s), one);
    const float of_score = distance_below(square, s.limit[at]);
    if (of_score < upper)
      upper = of_score;
    else  // what float32 found in an earlier pass is better
      s.limit[at] = std::min(s.limit[at], score_below(square, upper) + s.floor[at]);
  }

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
        {whole_.data(), columns_, s.ids.data(), few, s.asked.data(), bytes(i0), of_.stride_, s.start.data()},
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
  void settle(index_t i0, int r, int next, const Pass& to, ClusterSums* sums, float& upper, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    const index_t i = i0 + r, count = s.count[at];
    const double square = of_.square_[static_cast<std::size_t>(first_ + i)];
    const std::int32_t* const candidates = s.candidates.data() + r * centroids_.k;
    std::int32_t nearest = candidates[0];
    upper = distance_below(square, s.limit[at]);
    if (count > 1) {
      s.stats.met += count;
      kernels_.pruning.scaled_row(x_, i, i0 + next, shift_.packing, s.row.data(), s.x.data());
      kernels_.pruning.listed_scores(s.x.data(), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                     candidates, count, s.scores.data());
      const float margin = margin_of(s.norm[at]);
      nearest = decide_listed(i, candidates, count, margin, to, s);
      for (index_t q = 0; q < count; ++q) {
        const float score = s.scores[static_cast<std::size_t>(q)];
        if (candidates[q] == nearest) upper = std::min(upper, distance_below(square, score + margin));
        const float least = s.least_square[at] + 2 * (score - margin);
        std::uint16_t& bound = bounds(i0, candidates[q])[r];
        bound = std::max(bound, assign_detail::half_below(std::sqrt(std::max(0.0F, least)) * (1 - 0x1p-20F)));
      }
    }
    relabel(i, nearest, to, sums, s);
  }

  PairBounds& of_;
  index_t first_;
  assign_detail::InLines<std::uint8_t> whole_, quads_;  ///< bytes of each centroid; of groups in this order
  std::vector<std::int32_t> order_;                     ///< those that moved most first: most rows meet them
};

namespace assign_detail {

AssignStats assign_pairs(const Context& ctx, const AssignArguments& of) {
  expects(of.pruning.pairs->rows() >= of.pruning.first + of.x.rows() && of.pruning.first % head_piece == 0,
          "assign: bounds of pairs belong to other rows");
  return run_pieces<PairsPass>(ctx, of);
}

}  // namespace assign_detail

}  // namespace ts::inline v0
