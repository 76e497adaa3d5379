// A pass over dense rows in host memory, every row against every centroid. Internal to the room.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/host_pass.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/squared_distance.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/grouped_scores.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moved_rows.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::AssignKernels;

inline constexpr index_t least_clusters_to_tighten = 256;
inline constexpr index_t least_pieces = 64, most_tiles = 32;  // of many rows; of a piece

template <class S>
class DensePass {
  using Index = std::conditional_t<sizeof(S) == sizeof(float), std::int32_t, std::int64_t>;

 public:
  /// @param of as assign() checked it; must outlive this
  DensePass(const Context& ctx, const AssignArguments& of, Scores scores, Copies copies = Copies::never_win)
      : kernels_(assign_cpu::select(ctx.simd)),
        score_(assign_cpu::score_kernels<S>(kernels_)),
        of_(of),
        x_(of.x),
        piece_tiles_(std::clamp<index_t>(x_.rows() / (score_.rows * least_pieces), 1, most_tiles)),
        grouped_(ctx, of.centroids, of.moments, scores, copies),
        shift_(of.moments, centroids_.scale, score_.lanes) {}

  /// Memory of one thread.
  struct Scratch {
    Matrix<S> tile;
    std::vector<double> row;
    std::vector<index_t> rows, packed, rescored, moving;
    std::vector<S> norms, best, second, scores, scaled_row;
    std::vector<std::int32_t> pairs;
    std::vector<Index> which, found;
    std::vector<float> upper, lower;
    std::vector<std::int32_t> candidates;
    std::vector<double> candidate_distances, own_distances;
    std::vector<Twofold> twofold_distances;
    AssignStats stats;
    std::vector<MovedRow> moved;  ///< but not in the sums yet
  };
  [[nodiscard]] Scratch scratch() const {
    const auto r = at(score_.rows), d = at(centroids_.d);
    Scratch s;
    s.tile = Matrix<S>(centroids_.d, score_.rows);
    s.row.resize(d), s.scaled_row.resize(d);
    s.rows.resize(at(piece_rows()) + 1), s.packed.resize(r);
    s.norms.resize(r), s.best.resize(r), s.second.resize(r), s.which.resize(r);
    s.upper.resize(r), s.lower.resize(r), s.moving.resize(r + 1), s.own_distances.resize(s.rows.size());
    if (integers_) s.pairs.resize(r * at(integers_->pairs));
    s.scores.resize(at(centroids_.k));
    s.candidates.reserve(at(centroids_.k));
    s.candidate_distances.reserve(at(centroids_.k));
    return s;
  }

  void move_now(ClusterSums* sums, Scratch& s) const {
    if (s.moved.empty()) return;
    move_rows(kernels_, x_, shift_.wide.data(), *of_.unit, s.moved, *sums);
    s.moved.clear();
  }
  /// The rows that waited.
  template <class OfThreads>
  void apply_moves(int team, OfThreads& threads, ClusterSums& sums) const {
    std::vector<std::vector<MovedRow>> lists;
    for (auto& s : threads)
      if (!s.moved.empty()) lists.push_back(std::move(s.moved));
    if (!lists.empty()) move_rows(team, kernels_, x_, shift_.wide.data(), *of_.unit, lists, sums);
  }

  /// The numbers of most scores.
  [[nodiscard]] std::string_view scorer() const noexcept {
    return integers_ ? "int16" : std::is_same_v<S, float> ? "float32" : "float64";
  }
  /// Rows of one unit of work: whole tiles, and enough of them to fill tiles with the rows that bounds leave.
  [[nodiscard]] index_t piece_rows() const noexcept { return piece_tiles_ * score_.rows; }

  /// Labels of the rows i0 .. i0 + count - 1, at most piece_rows().
  void piece(index_t i0, index_t count, Scratch& s) const {
    index_t undecided = count;
    if (of_.bounds.hold())
      undecided = screen(i0, count, s);
    else
      std::iota(s.rows.begin(), s.rows.begin() + count, i0);
    s.stats.skipped += count - undecided;
    s.rescored.clear();
    for (index_t r = 0; r < undecided; r += score_.rows)
      tile(s.rows.data() + r, undecided - r, integers_.has_value(), s);
    const index_t rescored = std::ssize(s.rescored);
    for (index_t r = 0; r < rescored; r += score_.rows) tile(s.rescored.data() + r, rescored - r, false, s);
    if (integers_) s.stats.rescored += rescored;
  }

 protected:
  void relabel(index_t i, std::int32_t nearest, Scratch& s) const {
    assign_detail::relabel(of_, i, nearest, s.stats, [&](std::int32_t label, double weight) {
      s.moved.push_back({i, weight, label, nearest});
    });
  }

  /// Puts the rows that bounds do not prove into s.rows.
  index_t screen(index_t i0, index_t count, Scratch& s) const {
    const assign_cpu::CentroidSteps& steps = of_.bounds.all->steps();
    float *const upper = of_.bounds.upper(i0), *const lower = of_.bounds.lower(i0);
    const std::int32_t* labels = of_.labels.data + i0;
    index_t left = kernels_.screen(steps, labels, count, upper, lower, s.rows.data());
    for (index_t q = 0; q < left; ++q) s.rows[at(q)] += i0;
    // Where bounds prove next to nothing, own distances would not prove much more; and they cost about as
    // much as scores against a few vectors of centroids.
    if (left > count - count / 8 || centroids_.k < least_clusters_to_tighten) return left;
    kernels_.own_squared_distances(x_, s.rows.data(), left,
                                   {of_.labels.data, of_.bounds.all->centroid(0), shift_.wide.data(), centroids_.scale},
                                   s.row.data(), s.own_distances.data());
    const double d = static_cast<double>(centroids_.d);
    index_t kept = 0;
    for (index_t q = 0; q < left; ++q) {
      const index_t i = s.rows[at(q)], r = i - i0;
      const double distance = std::sqrt(s.own_distances[at(q)]);
      // Computed in scaled coordinates, whose rounding counts.
      upper[r] = static_cast<float>(distance * (1 + (d + 8) * 0x1p-52) + std::sqrt(d) * 0x1p-50) * (1 + 0x1p-22F);
      s.rows[at(kept)] = i;
      if (!(upper[r] < std::max(lower[r], steps.half_gap[labels[r]]))) ++kept;
    }
    return kept;
  }

  /// Labels of the first of the `left` rows that follow, a tile of them at most; those that integers leave
  /// undecided go to s.rescored instead.
  void tile(const index_t* rows, index_t left, bool by_integers, Scratch& s) const {
    const index_t count = std::min(score_.rows, left);
    // Rows in column-major order are no lines of memory.
    const assign_cpu::NextRows next{x_, rows + count, x_.col_stride() == 1 ? std::min(score_.rows, left - count) : 0};
    std::copy_n(rows, count, s.packed.begin());
    std::fill(s.packed.begin() + count, s.packed.end(), rows[0]);
    const bool bounded = of_.bounds.all != nullptr;
    const auto decide = [&](const assign_cpu::ScoreMargin<S>& margin, const S* by_centroid) {
      if (!of_.proven()) s.found = s.which;
      score_.decide(s.best.data(), s.second.data(), s.norms.data(), margin, by_centroid, s.which.data(),
                    bounded ? s.upper.data() : nullptr, s.lower.data());
    };
    if constexpr (std::is_same_v<S, float>) {
      if (by_integers) {
        score_integers(next, s);
        decide(integers_->margin, integers_->margins.data());
      }
    }
    if (!by_integers) {
      score_.pack(x_, s.packed.data(), shift_.packing, s.row.data(), s.tile.data(), s.norms.data());
      score_.best_two(s.tile.data(), centroids_.d, grouped_.view(), next,
                      {s.best.data(), s.second.data(), s.which.data()});
      decide(margin_, nullptr);
    }
    resolve_tile(rows, count, by_integers, s);
    take_labels(rows, count, s);
  }

  /// Rows of a tile that scores leave undecided. Bounds of all of them.
  void resolve_tile(const index_t* rows, index_t count, bool by_integers, Scratch& s) const {
    bool some = false;
    for (index_t r = 0; r < count; ++r) some |= s.which[at(r)] < 0;
    for (index_t r = 0; some && r < count; ++r) {
      const auto place = at(r);
      if (s.which[place] >= 0) continue;
      if (by_integers) {
        s.rescored.push_back(rows[r]);
        continue;
      }
      s.which[place] = of_.proven() ? resolve(rows[r], s) : s.found[place];
      s.upper[place] = std::numeric_limits<float>::infinity(), s.lower[place] = 0;
    }
    if (of_.bounds.all == nullptr) return;
    for (index_t r = 0; r < count; ++r) {
      *of_.bounds.upper(rows[r]) = s.upper[at(r)];
      *of_.bounds.lower(rows[r]) = s.lower[at(r)];
    }
  }

  /// The labels of a tile, of the rows that are not undecided.
  void take_labels(const index_t* rows, index_t count, Scratch& s) const {
    // Without branches, as moves are unpredictable.
    index_t moves = 0;
    const auto inspect = [&](index_t r, std::int32_t label) {
      const Index which = s.which[at(r)];
      s.moving[at(moves)] = r;
      moves += static_cast<index_t>(which != label) & static_cast<index_t>(which >= 0);
    };
    constexpr index_t stretch = 16;
    const bool together = rows[count - 1] - rows[0] == count - 1;
    const std::int32_t* const labels = of_.labels.data + rows[0];
    for (index_t r = 0; r < count;) {
      const index_t end = std::min(count, r + stretch);
      bool moves_any = !together;
      if (together)
        for (index_t q = r; q < end; ++q) moves_any |= s.which[at(q)] != labels[q];
      if (!moves_any) r = end;
      for (; r < end; ++r) inspect(r, together ? labels[r] : of_.labels.data[rows[r]]);
    }
    for (index_t q = 0; q < moves; ++q) {
      const index_t r = s.moving[at(q)];
      relabel(rows[r], static_cast<std::int32_t>(s.which[at(r)]), s);
    }
  }

  /// The scores of a tile, by integers; of rows for which they have no room, two that decide nothing.
  void score_integers(const assign_cpu::NextRows& next, Scratch& s) const requires std::is_same_v<S, float> {
    const IntegerScores& of = *integers_;
    kernels_.int16.pack(x_, s.packed.data(), shift_.packing, of.row_scale, s.row.data(), s.tile.data(), s.pairs.data(),
                        s.norms.data());
    kernels_.int16.best_two(s.pairs.data(), of.pairs, grouped_.pairs(), next,
                            {s.best.data(), s.second.data(), s.which.data()});
    for (std::size_t r = 0; r < s.norms.size(); ++r)
      if (!(s.norms[r] <= of.largest_squared)) s.second[r] = s.best[r];
  }

  /// Finds the nearest centroid of row i exactly; its scores are too close to decide.
  std::int32_t resolve(index_t i, Scratch& s) const {
    if (!integers_) ++s.stats.rescored;  // otherwise it is counted as one that these left undecided
    const index_t d = centroids_.d;
    kernels_.centred(x_, i, shift_.wide.data(), s.row.data());
    double squared = 0;
    for (index_t j = 0; j < d; ++j) {
      const double value = s.row[at(j)] * centroids_.scale;
      s.scaled_row[at(j)] = static_cast<S>(value), squared += value * value;
    }
    const double margin =
        static_cast<double>(margin_.constant) + static_cast<double>(margin_.by_norm) * std::sqrt(squared) * (1 + 1e-6);
    score_.row_scores(s.scaled_row.data(), d, centroids_.negated.data(), centroids_.half_norms.data(), centroids_.k,
                      s.scores.data());
    const double least = *std::min_element(s.scores.begin(), s.scores.end());
    s.candidates.clear();
    for (index_t m = 0; m < centroids_.k; ++m)
      if (static_cast<double>(s.scores[at(m)]) - least <= margin) s.candidates.push_back(static_cast<std::int32_t>(m));
    return nearest_candidate(i, s);
  }

  /// The nearest of s.candidates to row i, the lowest among equals.
  std::int32_t nearest_candidate(index_t i, Scratch& s) const {
    if (s.candidates.size() == 1) return s.candidates.front();
    const index_t d = centroids_.d;
    x_.load(i, s.row.data());
    for (double& value : s.row) value *= centroids_.shrink;
    const double factor = centroids_.scale / centroids_.shrink;
    s.candidate_distances.clear();
    for (const std::int32_t m : s.candidates)
      s.candidate_distances.push_back(
          squared_distance<double>(s.row.data(), centroids_.exact.data() + m * d, d, factor));
    const double least_distance = *std::min_element(s.candidate_distances.begin(), s.candidate_distances.end());
    const double limit = least_distance * (1 + static_cast<double>(d + 3) * 0x1p-51);
    std::size_t kept = 0;
    for (std::size_t q = 0; q < s.candidates.size(); ++q)
      if (!(s.candidate_distances[q] > limit)) s.candidates[kept++] = s.candidates[q];
    s.candidates.resize(kept);
    return kept == 1 ? s.candidates.front() : nearest_twofold(s, factor);
  }

  /// The nearest of s.candidates, the lowest among equals.
  std::int32_t nearest_twofold(Scratch& s, double factor) const {
    s.twofold_distances.clear();
    for (const std::int32_t m : s.candidates)
      s.twofold_distances.push_back(
          twofold_squared_distance(s.row.data(), centroids_.exact.data() + m * centroids_.d, centroids_.d, factor));
    Twofold least = s.twofold_distances.front();
    for (const Twofold& t : s.twofold_distances)
      if ((t - least).hi < 0) least = t;
    std::size_t q = 0;
    while ((s.twofold_distances[q] - least).hi > twofold_tie(centroids_.d) * least.hi) ++q;
    return s.candidates[q];
  }

  const AssignKernels& kernels_;
  const assign_cpu::ScoreKernels<S, Index>& score_;
  const AssignArguments& of_;
  const Rows& x_;
  index_t piece_tiles_;
  GroupedScores<S> grouped_;
  const Scored<S>& centroids_ = grouped_.centroids;
  const assign_cpu::ScoreMargin<S>& margin_ = grouped_.margin;
  const std::optional<IntegerScores>& integers_ = grouped_.integers;
  PackedShift<S> shift_;
};

}  // namespace ts::inline v0::assign_detail
