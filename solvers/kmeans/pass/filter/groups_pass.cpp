// Passes that leave out what GroupBounds prove.
#include "tallskinny/solvers/kmeans/pass/filter/group_bounds.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/bytes_pass.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::no_bound;

namespace {

/// An upper bound of the distance of a centroid whose score is at most that.
float distance_below(double square, float score) {
  constexpr double more = 1 + 0x1p-20;
  return static_cast<float>(std::sqrt(std::max(0.0, square * more + 2 * static_cast<double>(score))) * more);
}
/// An upper bound of the score of a centroid whose distance is at most that.
float score_below(double square, float distance) {
  constexpr double less = 1 - 0x1p-20, more = 1 + 0x1p-20;
  const double score = (static_cast<double>(distance) * static_cast<double>(distance) * more - square * less) / 2;
  return static_cast<float>(score) + static_cast<float>(std::abs(score)) * 0x1p-22F;
}

}  // namespace

/// Takes pieces of piece_size rows:
///   1. bounds move with centroids; rows that some group may concern are undecided;
///   2. undecided rows are scored in 8 bits with the centroid of their label, which lowers their upper bound;
///   3. groups that bounds leave are scored in 8 bits with all their rows together;
///   4. centroids whose least score is not above a row's limit are scored in float32.
/// A row without a label is scored with every centroid.
class GroupsPass : public BytesPass {
 public:
  GroupsPass(const Context& ctx, const AssignArguments& of)
      : BytesPass(ctx, of, Copies::never_win, of.group_bounds.all->place_),
        whole_(at(centroids_.k * columns_)),
        all_(*of.group_bounds.all),
        first_(of.group_bounds.first) {
    parallel_for(ctx.thread_count(), centroids_.k, [&](index_t m) {
      const index_t place = all_.place_[at(m)], in_group = place % group_centroids * 4;
      const std::uint8_t* const quads =
          groups_.quads.data() + place / group_centroids * group_centroids * columns_ + in_group;
      for (index_t j = 0; j < columns_; j += 4)
        std::copy_n(quads + j * group_centroids, 4, whole_.data() + m * columns_ + j);
    });
    // Scores of copies are infinite, which their distances are not.
    all_.copies_ = all_.copies_ || std::any_of(centroids_.half_norms.begin(), centroids_.half_norms.end(),
                                               [](float half) { return std::isinf(half); });
  }

  struct Scratch : BytesPass::Scratch {
    std::array<float, piece_size> least_square;  ///< of rows' squares, less what rounding takes
  };
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    static_cast<BytesPass::Scratch&>(s) = BytesPass::scratch();
    s.rows.resize(std::max<std::size_t>(s.rows.size(), piece_size + 1));
    return s;
  }

  void piece(index_t i0, index_t count, Scratch& s) const {
    std::uint64_t unproven = 0, without = 0;
    for (index_t r = 0; r < count; ++r) {
      const std::int32_t own = label(i0 + r);
      float& bound = upper(i0)[r];
      bound = own < 0 ? no_bound : (bound + all_.moved_[at(own)]) * (1 + 0x1p-22F);
      if (own < 0) without |= std::uint64_t{1} << r;
    }
    for (index_t g = 0; g < all_.groups_; ++g)
      unproven |= kernels_.pruning.move_bounds(bounds(i0, g), all_.group_moved_[at(g)], upper(i0));
    unproven &= first_bits(count) & ~without;
    s.stats.skipped += count - std::popcount(unproven | without);
    for_each_bit(unproven, [&](int r) { begin_row(i0, r, s); });
    const std::uint64_t overflown = score_groups(i0, unproven, s);
    for_each_bit(unproven & ~overflown, [&](int r) { resolve_by_list(i0, r, s); });
    score_all(i0, without | overflown, s);
  }

 private:
  /// Bounds of the rows of a piece to a group.
  [[nodiscard]] std::uint16_t* bounds(index_t i0, index_t group) const {
    return all_.bounds_ + ((first_ + i0) / piece_size * all_.groups_ + group) * piece_size;
  }
  [[nodiscard]] float* upper(index_t i0) const { return all_.upper_.data() + first_ + i0; }
  [[nodiscard]] const std::int8_t* bytes(index_t i) const { return all_.bytes_ + (first_ + i) * all_.stride_; }
  [[nodiscard]] std::int32_t label(index_t i) const { return of_.labels.data[i]; }

  /// Sets the numbers of row i0 + r in a batch. Its product with the centroid of its label lowers its upper bound.
  void begin_row(index_t i0, int r, Scratch& s) const {
    const std::size_t here = at(r), row = at(first_ + i0 + r);
    const double quantized = all_.byte_norm_[row], error = all_.error_[row], squared = all_.square_[row];
    const double radius = std::sqrt(weight_ * quantized * quantized + error * error),
                 norm = std::sqrt(squared) * (1 + 0x1p-20);
    s.norm[here] = norm, s.scale[here] = all_.unit_[row], s.start[here] = all_.start_[row];
    s.radius[here] = float_above(radius * (1 + 0x1p-20)), s.floor[here] = rounding_of(norm, radius);
    s.least_square[here] = static_cast<float>(squared * (1 - 0x1p-20) - static_cast<double>(s.floor[here]));
    s.least_square[here] -= std::abs(s.least_square[here]) * 0x1p-22F;
    const std::int32_t own = label(i0 + r);
    const std::size_t place = at(all_.place_[at(own)]);
    const std::int32_t product =
        s.start[here] + kernels_.pruning.product(bytes(i0 + r), whole_.data() + own * columns_, columns_);
    const float near = static_cast<float>(product) * s.scale[here] * groups_.scale[place] + groups_.half_norms[place];
    s.limit[here] =
        std::min(std::numeric_limits<float>::max(), near + s.radius[here] * groups_.radius[place] + s.floor[here]);
    float& bound = upper(i0)[r];
    const float of_score = distance_below(squared, s.limit[here]);
    if (of_score < bound)
      bound = of_score;
    else  // what float32 found in an earlier pass is better
      s.limit[here] = std::min(s.limit[here], score_below(squared, bound) + s.floor[here]);
  }

  /// Rows that meet a group together: those of the first bits, which are taken from `concerned`.
  struct Batch {
    static constexpr int most = assign_cpu::most_batch_rows;
    std::int32_t place[most], start[most];
    const std::int8_t* quantized[most];
    float scale[most], radius[most], limit[most], floor[most], least[most];
    std::int32_t* end[most];
    int rows = 0;

    Batch(const GroupsPass& pass, index_t i0, std::uint64_t& concerned, Scratch& s) {
      for (int q = 0; q < pass.kernels_.pruning.rows; ++q) {
        const bool there = concerned != 0;
        const int r = there ? std::countr_zero(concerned) : place[0];
        const std::size_t of = at(r);
        place[q] = r, quantized[q] = pass.bytes(i0 + r), start[q] = s.start[of];
        scale[q] = s.scale[of], radius[q] = s.radius[of], limit[q] = s.limit[of], floor[q] = s.least_square[of];
        end[q] = there ? s.end[of] : pass.list(piece_size, s);
        rows += there ? 1 : 0;
        concerned &= concerned - (there ? 1 : 0);
      }
    }
    [[nodiscard]] BatchOfRows byte_rows() {
      return {quantized, start, scale, radius, floor, place, limit, end, least, 0, rows};
    }
  };

  /// Lists the centroids that may be nearest to the rows `unproven`; returns those rows for which there are too many.
  std::uint64_t score_groups(index_t i0, std::uint64_t unproven, Scratch& s) const {
    std::uint64_t overflown = 0;
    for_each_bit(unproven, [&](int r) { s.end[at(r)] = list(r, s); });
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    for (index_t g = 0; g < all_.groups_ && unproven != 0; ++g) {
      std::uint64_t concerned = unproven & kernels_.pruning.move_bounds(bounds(i0, g), 0, upper(i0));
      s.stats.coarse += std::popcount(concerned) * static_cast<index_t>(group_centroids);
      while (concerned != 0) {
        Batch b(*this, i0, concerned, s);
        const BatchOfRows batch = b.byte_rows();
        kernels_.pruning.survivors(groups_.group(g), batch, columns_);
        kernels_.pruning.put_bounds(batch, b.rows, bounds(i0, g));
        for (int q = 0; q < b.rows; ++q) {
          s.end[at(b.place[q])] = b.end[q];
          if (b.end[q] - list(b.place[q], s) <= longest_) continue;
          overflown |= std::uint64_t{1} << b.place[q];
          unproven &= ~overflown;
        }
      }
    }
    return overflown;
  }

  /// The label of a row whose candidates are listed, by float32.
  void resolve_by_list(index_t i0, int r, Scratch& s) const {
    const index_t i = i0 + r;
    const std::int32_t own = label(i);
    std::int32_t* const ids = s.ids.data();
    index_t count = 0;
    for (const std::int32_t* listed = list(r, s); listed != s.end[at(r)]; ++listed) {
      ids[count] = all_.number_[at(*listed)];
      count += ids[count] != own ? 1 : 0;
    }
    if (count == 0) return;
    ids[count++] = own;
    s.stats.scored += count;
    kernels_.pruning.scaled_row(x_, i, shift_.packing, s.row.data(), s.x.data());
    kernels_.pruning.listed_scores(s.x.data(), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                   ids, count, s.scores.data());
    const float margin = margin_of(s.norm[at(r)]);
    const double square = all_.square_[at(first_ + i)];
    const std::int32_t nearest = decide_listed(i, ids, count, margin, s);
    for (index_t q = 0; q < count; ++q) {
      const float score = s.scores[at(q)];
      if (ids[q] == nearest) {
        upper(i0)[r] = std::min(upper(i0)[r], distance_below(square, score + margin));
        continue;
      }
      const float least = s.least_square[at(r)] + 2 * (score - margin);
      std::uint16_t& bound = bounds(i0, all_.place_[at(ids[q])] / group_centroids)[r];
      bound = std::min(bound, half_below(std::sqrt(std::max(0.0F, least)) * (1 - 0x1p-20F)));
    }
    relabel(i, nearest, s);
  }

  /// Rows that meet every centroid; nothing is known of them afterwards.
  void score_all(index_t i0, std::uint64_t which, Scratch& s) const {
    index_t count = 0;
    for_each_bit(which, [&](int r) {
      s.rows[at(count++)] = i0 + r;
      upper(i0)[r] = no_bound;
      for (index_t g = 0; g < all_.groups_; ++g) bounds(i0, g)[r] = 0;
    });
    s.stats.scored += count * centroids_.k;
    for (index_t r = 0; r < count; r += score_.rows) tile(s.rows.data() + r, count - r, false, s);
  }

  InLines<std::uint8_t> whole_;  ///< bytes of each centroid, by number
  GroupBounds& all_;
  index_t first_;
};

AssignStats assign_by_groups(const Context& ctx, const AssignArguments& of) {
  const double products = static_cast<double>(of.x.cols() * of.centroids.rows()) / 8;
  return run_pass(ctx, of, GroupsPass(ctx, of), {piece_size, products}, "int8", PassFilter::groups);
}

}  // namespace ts::inline v0::assign_detail
