// Passes that meet some centroids of each row, which are listed, in all columns. Internal to the room.
#pragma once

#include <bit>

#include "tallskinny/gemm/assign/scores/dense_pass.hpp"
#include "tallskinny/gemm/assign/sums/team.hpp"

namespace ts::inline v0::assign_detail {

/// use(r) for the bits that are set.
template <class Use>
void for_each_bit(std::uint64_t bits, const Use& use) {
  for (; bits != 0; bits &= bits - 1) use(std::countr_zero(bits));
}

class ListedPass : public DensePass<float> {
 public:
  using DensePass<float>::DensePass;

 protected:
  /// The nearest centroid of row i, which is one of the `count` numbers of a list with scores in s.scores.
  /// @param margin twice the error of a score, at most
  std::int32_t decide_listed(index_t i, const std::int32_t* list, index_t count, float margin, const Pass& to,
                             Scratch& s) const {
    const float* const scores = s.scores.data();
    const index_t best = std::min_element(scores, scores + count) - scores;
    s.candidates.clear();
    for (index_t q = 0; q < count; ++q)
      if (scores[q] - scores[best] <= margin) s.candidates.push_back(list[q]);
    if (s.candidates.size() <= 1 || !to.proven) return list[best];
    ++s.stats.rescored;
    std::sort(s.candidates.begin(), s.candidates.end());
    return nearest_candidate(i, s);
  }

  /// Twice the error of the score of a row of this norm, at most.
  [[nodiscard]] float margin_of(double norm) const {
    const double margin = static_cast<double>(margin_.constant) + static_cast<double>(margin_.by_norm) * norm;
    return static_cast<float>(margin * (1 + 0x1p-18));
  }
};

/// P, a pass that leaves out most products, over all pieces of head_piece rows.
template <class P>
AssignStats run_pieces(const Context& ctx, const AssignArguments& of) {
  const P pass(ctx, of);
  const Pass to(of);
  const index_t pieces = (of.x.rows() + assign_cpu::head_piece - 1) / assign_cpu::head_piece;
  const double products = static_cast<double>(assign_cpu::head_piece * of.x.cols() * of.centroids.rows()) / 8;
  return stats_of(for_each_piece(team_size(ctx, pieces, products), pass, pieces, of.sums,
                                 [&](index_t p, ClusterSums* own, auto& scratch) { pass.piece(p, to, own, scratch); }));
}

}  // namespace ts::inline v0::assign_detail
