// Passes that meet some centroids of each row, which are listed, in all columns. Internal to the room.
#pragma once

#include <array>
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

  struct Scratch : DensePass<float>::Scratch {
    Matrix<float> x;                       ///< rows of a piece, shifted and scaled
    InLines<std::int8_t> bytes;            ///< of these rows
    std::vector<std::int32_t> lists, ids;  ///< step_ of each row; of one row
    std::vector<float> lowers;             ///< beside lists: least scores
    std::array<float, assign_cpu::head_piece> scale, radius, limit, floor;
    std::array<std::int32_t*, assign_cpu::head_piece> end;  ///< of lists
  };

 protected:
  /// For rows of so many columns, of which the last are zero.
  [[nodiscard]] Scratch scratch(index_t columns, bool with_lowers = true) const {
    constexpr index_t piece = assign_cpu::head_piece;
    const auto step = static_cast<std::size_t>(step_);
    Scratch s;
    static_cast<DensePass<float>::Scratch&>(s) = DensePass<float>::scratch();
    s.x = Matrix<float>::zeros(piece, columns);
    s.bytes.resize(static_cast<std::size_t>(piece * columns));
    s.lists.resize((piece + 1) * step), s.lowers.resize(with_lowers ? s.lists.size() : 0);
    s.ids.resize(step), s.scores.resize(std::max(s.scores.size(), step));
    return s;
  }
  [[nodiscard]] std::int32_t* list(int r, Scratch& s) const { return s.lists.data() + r * step_; }
  /// Takes from a list what was listed before limits were lowered.
  void filter(int r, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    std::int32_t *const begin = list(r, s), *kept = begin;
    float* const lowers = s.lowers.data() + r * step_;
    for (std::int32_t* place = begin; place != s.end[at]; ++place)
      if (lowers[place - begin] <= s.limit[at]) lowers[kept - begin] = lowers[place - begin], *kept++ = *place;
    s.end[at] = kept;
  }

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

  index_t longest_ = 0, step_ = 0;  ///< of a list; from the list of one row to that of the next
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
