#include "tallskinny/solvers/kmeans/seeding/nearer_rows.hpp"

#include <utility>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/grouped_scores.hpp"
#include "tallskinny/solvers/kmeans/seeding/nearer_line.hpp"

namespace ts::inline v0::assign_detail {

namespace {

/// Rows that may be nearer than D, in float64.
struct Candidates {
  HostView<const double> rows;
  std::span<const double> squared;  ///< D^2 of all rows
};

struct Found {
  std::int32_t candidate;
  NearerRow nearer;
};

/// Finds the candidates that rows of a tile may be nearer to, by scores of type K: float or double.
template <class K>
class Search {
 public:
  /// Memory of one thread.
  struct Scratch {
    Matrix<K> tile;
    std::vector<double> row;
    std::vector<index_t> rows;
    std::vector<K> norms, limits;
    std::vector<std::int32_t> pairs;
    std::vector<std::uint64_t> below;
    index_t measured = 0;
  };

  Search(const Context& ctx, const Rows& x, const ColumnMoments& moments, const Candidates& of, Scores scores)
      : kernels_(assign_cpu::select(ctx.simd)),
        score_(assign_cpu::score_kernels<K>(kernels_)),
        x_(x),
        of_(of),
        zeros_(at(x.cols())),
        grouped_(ctx, of.rows, moments, scores, Copies::like_others),
        shift_(moments, grouped_.centroids.scale, score_.lanes) {}

  [[nodiscard]] Scratch scratch() const {
    const auto rows = at(score_.rows);
    Scratch s;
    s.tile = Matrix<K>(x_.cols(), score_.rows);
    s.row.resize(at(x_.cols()));
    s.rows.resize(rows), s.norms.resize(rows), s.limits.resize(rows);
    if (grouped_.integers) s.pairs.resize(rows * at(grouped_.integers->pairs));
    s.below.resize(at(grouped_.groups * score_.group));
    return s;
  }
  [[nodiscard]] index_t tile_rows() const { return score_.rows; }

  void tile(index_t t, std::vector<Found>& out, Scratch& s) const {
    const index_t first = t * score_.rows, count = std::min(score_.rows, x_.rows() - first);
    for (index_t r = 0; r < score_.rows; ++r) s.rows[at(r)] = first + std::min(r, count - 1);
    score(count, s);
    for (index_t q = 0; q < of_.rows.rows(); ++q)
      for (std::uint64_t left = s.below[at(q)]; left != 0; left &= left - 1) {
        const index_t i = first + std::countr_zero(left);
        kernels_.centred(x_, i, zeros_.data(), s.row.data());
        const double found = kernels_.squared_distance(s.row.data(), &of_.rows(q, 0), x_.cols());
        ++s.measured;
        if (found < of_.squared[at(i)])
          out.push_back({static_cast<std::int32_t>(q), {static_cast<std::int32_t>(i), found}});
      }
  }

 private:
  /// s.below of the first `count` rows of a tile.
  void score(index_t count, Scratch& s) const {
    const assign_cpu::NextRows next{x_, nullptr, 0};
    if constexpr (std::is_same_v<K, float>) {
      if (grouped_.integers) {
        const IntegerScores& of = *grouped_.integers;
        kernels_.int16.pack(x_, s.rows.data(), shift_.packing, of.row_scale, s.row.data(), s.tile.data(),
                            s.pairs.data(), s.norms.data());
        set_limits(count, of.margin, of.largest_squared, s);
        return kernels_.int16.below(s.pairs.data(), of.pairs, grouped_.pairs(), next, s.limits.data(), s.below.data());
      }
    }
    score_.pack(x_, s.rows.data(), shift_.packing, s.row.data(), s.tile.data(), s.norms.data());
    set_limits(count, grouped_.margin, std::numeric_limits<K>::max(), s);
    score_.below(s.tile.data(), x_.cols(), grouped_.view(), next, s.limits.data(), s.below.data());
  }

  /// ||x - c||^2 = ||x||^2 + 2 score < D^2; the limits have room for all rounding, also that of D^2 and of the
  /// distances that are compared with it. Rows of a norm that is out of range are measured.
  void set_limits(index_t count, const assign_cpu::ScoreMargin<K>& m, K largest_squared, Scratch& s) const {
    constexpr double up = 0x1p-21, most = std::numeric_limits<K>::max();
    const double to_squared =
        grouped_.centroids.scale * grouped_.centroids.scale * (1 + static_cast<double>(x_.cols() + 16) * 0x1p-23);
    for (std::size_t r = 0; r < s.limits.size(); ++r) {
      const auto norm = static_cast<double>(s.norms[r]);
      const double slack = static_cast<double>(m.slack), least = static_cast<double>(m.least);
      const double margin =
          static_cast<double>(m.constant) + static_cast<double>(m.by_norm) * std::sqrt(norm * slack + least);
      const double kept = of_.squared[at(s.rows[r])] * to_squared;
      const double fewest = norm * (2 - slack) - least, limit = (kept - fewest) / 2 + margin;
      const double above = limit + up * (kept + norm + margin);
      s.limits[r] = static_cast<index_t>(r) >= count                 ? -std::numeric_limits<K>::infinity()
                    : s.norms[r] <= largest_squared && above <= most ? static_cast<K>(above)
                                                                     : std::numeric_limits<K>::infinity();
    }
  }

  const assign_cpu::AssignKernels& kernels_;
  const decltype(assign_cpu::score_kernels<K>(kernels_))& score_;
  const Rows& x_;
  Candidates of_;
  std::vector<double> zeros_;
  GroupedScores<K> grouped_;
  PackedShift<K> shift_;
};

/// Searches all rows; returns the nearer rows, and the number of pairs that were measured.
template <class K>
std::pair<NearerRows, index_t> search(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                      const Candidates& of, Scores scores) {
  constexpr index_t tiles_of_piece = 8;
  const Search<K> search(ctx, x, moments, of, scores);
  const index_t tile = search.tile_rows(), tiles = (x.rows() + tile - 1) / tile,
                pieces = (tiles + tiles_of_piece - 1) / tiles_of_piece, count = of.rows.rows();
  const int team = team_size(ctx, pieces, static_cast<double>(tiles_of_piece * tile * x.cols() * count));
  std::vector<typename Search<K>::Scratch> scratch;
  for (int t = 0; t < team; ++t) scratch.push_back(search.scratch());
  std::vector<std::vector<Found>> parts(at(pieces));
  parallel_pieces(team, pieces, [&](index_t p, int thread) {
    for (index_t t = p * tiles_of_piece; t < std::min(tiles, (p + 1) * tiles_of_piece); ++t)
      search.tile(t, parts[at(p)], scratch[at(thread)]);
  });
  // Sorted by candidates: pieces are in the order of rows, and so is what they found.
  NearerRows rows;
  rows.begin.resize(at(count) + 1);
  for (const auto& part : parts)
    for (const Found& found : part) ++rows.begin[at(found.candidate)];
  index_t all = 0, measured = 0;
  for (index_t& begin : rows.begin) begin = std::exchange(all, all + begin);
  rows.all.resize(at(all));
  std::vector<index_t> next = rows.begin;
  for (const auto& part : parts)
    for (const Found& found : part) rows.all[at(next[at(found.candidate)]++)] = found.nearer;
  for (const auto& s : scratch) measured += s.measured;
  return {std::move(rows), measured};
}

}  // namespace

HostNearerRowSearch::HostNearerRowSearch(const Context& ctx, const Rows& x, const ColumnMoments& moments)
    : ctx_(ctx),
      x_(x),
      moments_(moments),
      line_(x.cols() == 1 && !x.sparse() ? std::make_unique<const NearerOnLine>(x) : nullptr) {}
HostNearerRowSearch::~HostNearerRowSearch() = default;

NearerRows HostNearerRowSearch::find(std::span<const index_t> numbers, std::span<const double> squared) {
  if (line_) return line_->find(ctx_, numbers, squared);
  constexpr index_t share = 16;  // of all pairs: measuring them for nothing may cost as much as better scores would
  Matrix<double> candidates(std::ssize(numbers), x_.cols());
  gather_rows(ctx_, x_, numbers, candidates.view());
  const auto find = scores_ == Scores::float64 ? search<double> : search<float>;
  auto [found, measured] = find(ctx_, x_, moments_, {candidates.cview(), squared}, scores_);
  if (measured - std::ssize(found.all) > x_.rows() * candidates.rows() / share)
    scores_ = scores_ == Scores::int16 ? Scores::float32 : Scores::float64;
  return std::move(found);
}

}  // namespace ts::inline v0::assign_detail
