// Passes that leave out what GroupBounds prove. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/pass/filter/group_bounds.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/bytes_pass.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::no_bound;

/// Columns j .. j + 3 of the centroid at a place of groups in bytes.
template <class Quads>
[[nodiscard]] auto* quad(Quads& quads, index_t columns, index_t place, index_t j) {
  return quads.data() + place / head_group * head_group * columns + (j * head_group + place % head_group * 4);
}

/// The common part of passes with bounds of single centroids and of 32. Pieces of head_piece rows:
///   1. bounds move with centroids; rows that some group may concern are open;
///   2. open rows meet the centroid of their label in 8 bits, which lowers their upper bound;
///   3. groups that bounds leave are met in 8 bits;
///   4. centroids whose least score is not above a row's limit are met in float32.
/// A row without a label meets every centroid.
class BoundsPass : public BytesPass {
 public:
  BoundsPass(const Context& ctx, const AssignArguments& of)
      : BytesPass(ctx, of, Copies::never_win, of.group_bounds.all->place_),
        whole_(static_cast<std::size_t>(centroids_.k * columns_)),
        all_(*of.group_bounds.all),
        first_(of.group_bounds.first) {
    parallel_for(ctx.thread_count(), centroids_.k, [&](index_t m) {
      for (index_t j = 0; j < columns_; j += 4)
        std::copy_n(quad(groups_.quads, columns_, all_.place_[static_cast<std::size_t>(m)], j), 4,
                    whole_.data() + m * columns_ + j);
    });
    // Scores of copies are infinite, which their distances are not.
    all_.copies_ = all_.copies_ || std::any_of(centroids_.half_norms.begin(), centroids_.half_norms.end(),
                                               [](float half) { return std::isinf(half); });
  }

  struct Scratch : BytesPass::Scratch {
    std::array<float, head_piece> least_square;  ///< of rows' squares, less what rounding takes
  };

 protected:
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    static_cast<BytesPass::Scratch&>(s) = BytesPass::scratch();
    for (auto* of_row : {&s.scale, &s.radius, &s.limit, &s.floor, &s.least_square}) of_row->fill(0);
    return s;
  }

  /// Bounds of the rows of a piece to a group.
  [[nodiscard]] std::uint16_t* bounds(index_t i0, index_t group) const {
    return all_.bounds_ + ((first_ + i0) / head_piece * all_.groups_ + group) * head_piece;
  }
  [[nodiscard]] float* upper(index_t i0) const { return all_.upper_.data() + first_ + i0; }
  [[nodiscard]] const std::int8_t* bytes(index_t i) const { return all_.bytes_ + (first_ + i) * all_.stride_; }
  [[nodiscard]] double square(index_t i) const {
    return static_cast<double>(all_.square_[static_cast<std::size_t>(first_ + i)]);
  }
  [[nodiscard]] float moved(std::int32_t m) const { return all_.moved_[static_cast<std::size_t>(m)]; }
  [[nodiscard]] std::int32_t place(std::int32_t m) const { return all_.place_[static_cast<std::size_t>(m)]; }
  [[nodiscard]] std::int32_t number(std::int32_t place) const { return all_.number_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] index_t groups() const { return all_.groups_; }
  [[nodiscard]] float group_moved(index_t g) const { return all_.group_moved_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] index_t stride() const { return all_.stride_; }
  [[nodiscard]] assign_cpu::CentroidOfPairs centroid(index_t m) const {
    const auto at = static_cast<std::size_t>(place(static_cast<std::int32_t>(m)));
    return {groups_.half_norms[at], groups_.scale[at], groups_.radius[at]};
  }
  static assign_cpu::RowsOfPairs rows_of(Scratch& s) {
    return {s.scale.data(), s.radius.data(), s.floor.data(), s.least_square.data(), s.limit.data()};
  }
  [[nodiscard]] std::int32_t label(index_t i) const { return of_.labels.data[i]; }

  /// Upper bounds of the rows of a piece move with their centroids: infinite without a label.
  void move_uppers(index_t i0, index_t count) const {
    for (index_t r = 0; r < count; ++r) {
      const std::int32_t own = label(i0 + r);
      float& bound = upper(i0)[r];
      bound = own < 0 ? no_bound : (bound + moved(own)) * (1 + 0x1p-22F);
    }
  }

  /// Sets the numbers of row i0 + r in a batch. Its product with the centroid of its label, which is returned, lowers
  /// its upper bound.
  std::int32_t begin_row(index_t i0, int r, Scratch& s) const {
    const std::int32_t own = label(i0 + r);
    const auto at = static_cast<std::size_t>(r), row = static_cast<std::size_t>(first_ + i0 + r);
    const double head = all_.head_[row], error = all_.error_[row], squared = all_.square_[row];
    const double radius = std::sqrt(weight_ * head * head + error * error), norm = std::sqrt(squared) * (1 + 0x1p-20);
    s.norm[at] = norm, s.scale[at] = all_.unit_[row], s.start[at] = all_.start_[row];
    s.radius[at] = float_above(radius * (1 + 0x1p-20)), s.floor[at] = rounding_of(norm, radius);
    s.least_square[at] = static_cast<float>(squared * (1 - 0x1p-20) - static_cast<double>(s.floor[at]));
    s.least_square[at] -= std::abs(s.least_square[at]) * 0x1p-22F;
    s.limit[at] = std::numeric_limits<float>::max();
    if (own < 0) return 0;
    std::int32_t product;
    kernels_.pruning.listed_products(bytes(i0 + r), columns_, whole_.data(), &own, 1, &product);
    product += s.start[at];
    std::array<std::int32_t, head_piece> products;
    products[at] = product;
    kernels_.pairs.lower_limits(centroid(own), rows_of(s), products.data(), std::uint64_t{1} << r);
    float& bound = upper(i0)[r];
    const float of_score = distance_below(squared, s.limit[at]);
    if (of_score < bound)
      bound = of_score;
    else  // what float32 found in an earlier pass is better
      s.limit[at] = std::min(s.limit[at], score_below(squared, bound) + s.floor[at]);
    return product;
  }

  /// The nearest of the centroids listed for row i0 + r, by float32. Their bounds: lower(centroid, bound from below).
  /// @param next row that will be read
  template <class Lower>
  std::int32_t nearest_listed(index_t i0, int r, index_t next, const std::int32_t* list, index_t count, Scratch& s,
                              const Lower& lower) const {
    const auto at = static_cast<std::size_t>(r);
    const index_t i = i0 + r;
    s.stats.met += count;
    kernels_.pruning.scaled_row(x_, i, next, shift_.packing, s.row.data(), s.x.data());
    kernels_.pruning.listed_scores(s.x.data(), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                   list, count, s.scores.data());
    const float margin = margin_of(s.norm[at]);
    const std::int32_t nearest = decide_listed(i, list, count, margin, s);
    for (index_t q = 0; q < count; ++q) {
      const float score = s.scores[static_cast<std::size_t>(q)];
      float& bound = upper(i0)[r];
      if (list[q] == nearest) bound = std::min(bound, distance_below(square(i), score + margin));
      const float least = s.least_square[at] + 2 * (score - margin);
      lower(list[q], list[q] == nearest, half_below(std::sqrt(std::max(0.0F, least)) * (1 - 0x1p-20F)));
    }
    return nearest;
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

  InLines<std::uint8_t> whole_;  ///< bytes of each centroid, by number

 private:
  GroupBounds& all_;
  index_t first_;
};

/// Labels rows by the groups that GroupBounds leave; it must know all of these rows.
[[nodiscard]] AssignStats assign_by_pairs(const Context& ctx, const AssignArguments& of);
[[nodiscard]] AssignStats assign_by_groups(const Context& ctx, const AssignArguments& of);

}  // namespace ts::inline v0::assign_detail
