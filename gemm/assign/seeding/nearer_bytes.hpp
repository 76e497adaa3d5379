// What is nearer to rows than the centres so far, found in 8 bits. Internal to the room.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/assign/scores/bytes_pass.hpp"
#include "tallskinny/gemm/assign/sums/team.hpp"

namespace ts::inline v0::assign_detail {

/// Whether 8 bits serve: for few candidates, or narrow rows, 16 cost less.
[[nodiscard]] inline bool can_take_bytes(const Context& ctx, const Rows& x, index_t candidates,
                                         index_t least = assign_cpu::head_group) {
  return !x.sparse() && x.cols() >= least_columns_of_int8 && x.cols() <= most_columns_of_bytes && candidates >= least &&
         assign_cpu::select(ctx.simd).pruning.rows > 0;
}

/// At least the score of a candidate at the distance D of a row, and a little more for what rounding takes from D^2 and
/// from distances that are compared with it.
template <class S>
struct ScoresAtDistance {
  PerRow<const S> squared;  ///< D^2
  double to_scores;         ///< from the scale of D to that of scores
  index_t d;

  float operator()(index_t i, double norm) const {
    constexpr float most = std::numeric_limits<float>::max();
    const double square = norm * norm, of_row = static_cast<double>(squared.data[i]);
    const double kept = of_row * to_scores * to_scores * (1 + static_cast<double>(d + 16) * 0x1p-23);
    const double limit = (kept - square * (1 - 0x1p-18)) / 2 + 0x1p-20 * (kept + square);
    const double above = limit + std::abs(limit) * 0x1p-22 + static_cast<double>(std::numeric_limits<float>::min());
    return above < most ? static_cast<float>(above) : most;
  }
};

/// Which candidates may be closer to a row than D of it: those whose least score by bytes is below a limit, as in
/// BytesPass.
template <class S>
class NearerByBytes : BytesPass {
 public:
  /// @param unit_scale of D, @param kept from search to search
  NearerByBytes(const Context& ctx, const Rows& x, const ColumnMoments& moments, HostView<const double> candidates,
                PerRow<const S> squared, double unit_scale, RowsInBytes& kept)
      : BytesPass(ctx, {x, moments, candidates}, Copies::like_others),
        limit_{squared, centroids_.scale / unit_scale, x.cols()},
        kept_(kept),
        rounds_(kept.scale != centroids_.scale) {
    if (!rounds_) return;
    kept_.bytes.resize(static_cast<std::size_t>(x.rows() * columns_));
    kept_.rows.resize(static_cast<std::size_t>(x.rows()));
    kept_.scale = centroids_.scale;
  }

  using BytesPass::scratch, BytesPass::Scratch;

  /// near(i, q) for such pairs of the rows first .. first + count - 1, in the order of rows.
  template <class Near>
  void pairs(index_t first, int count, Scratch& s, const Near& near) const {
    std::int8_t* const bytes = kept_.bytes.data() + first * columns_;
    for (int r = 0; r < count; ++r) {
      RowInBytes& row = kept_.rows[static_cast<std::size_t>(first + r)];
      if (rounds_) row = round_row(first + r, &s.x(r, 0), bytes + r * columns_, s);
      begin(first + r, r, row, limit_, s);
      s.floor[static_cast<std::size_t>(r)] = assign_cpu::no_bound;  // limits stay
    }
    meet(count, bytes, s);
    for (int r = 0; r < count; ++r)
      for (const std::int32_t* q = list(r, s); q != s.end[static_cast<std::size_t>(r)]; ++q) near(first + r, *q);
  }

 private:
  ScoresAtDistance<S> limit_;
  RowsInBytes& kept_;
  bool rounds_;  ///< this search makes the bytes
};

/// Labels of rows to which some candidate may be closer than D, that of the nearest one; others keep theirs.
template <class S>
AssignStats label_nearer(const Context& ctx, const AssignArguments& of, PerRow<const S> squared, double unit_scale) {
  const BytesPass pass(ctx, of);
  const Pass to(of);
  const ScoresAtDistance<S> limit{squared, scoring_scale(of.centroids, of.moments) / unit_scale, of.x.cols()};
  const index_t pieces = (of.x.rows() + head_piece - 1) / head_piece;
  const int team = team_size(ctx, pieces, static_cast<double>(head_piece * of.x.cols() * of.centroids.rows()));
  return stats_of(for_each_piece(team, pass, pieces, nullptr, [&](index_t p, ClusterSums*, auto& scratch) {
    pass.piece(p, to, nullptr, scratch, limit);
  }));
}

}  // namespace ts::inline v0::assign_detail
