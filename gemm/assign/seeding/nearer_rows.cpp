#include "tallskinny/gemm/assign/seeding/nearer_rows.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "tallskinny/gemm/assign/scores/grouped_scores.hpp"
#include "tallskinny/gemm/assign/seeding/nearer_bytes.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0::assign_detail {

namespace {

using assign_cpu::AssignKernels;

constexpr index_t tiles_of_piece = 8;

template <class S>
struct Found {
  std::int32_t candidate;
  NearerRow<S> nearer;
};

/// Rows that may be nearer than D, by their numbers and in float64.
template <class S>
struct Candidates {
  std::span<const index_t> numbers;
  HostView<const double> rows;
  std::span<const S> squared;  ///< D^2 of all rows
};

/// Pairs of a row and a candidate, measured by differences.
template <class S>
class Measured {
 public:
  Measured(const assign_cpu::AssignKernels& kernels, const Rows& x, const SeedingUnit& unit, const Candidates<S>& of)
      : kernels_(kernels), x_(x), unit_(unit), of_(of), shift_(unit.moments, 1, kernels.float32.lanes) {}

  /// Appends the pair of row i and candidate q, if it is one. `room` is for 2 d numbers.
  void take(index_t i, index_t q, double* room, std::vector<Found<S>>& out) const {
    const S found = static_cast<S>(kernels_.squared_distance_of_rows(x_, i, of_.numbers[static_cast<std::size_t>(q)],
                                                                     shift_.wide.data(), unit_.scale, room));
    if (found < of_.squared[static_cast<std::size_t>(i)])
      out.push_back({static_cast<std::int32_t>(q), {static_cast<std::int32_t>(i), found}});
  }

 private:
  const AssignKernels& kernels_;
  const Rows& x_;
  const SeedingUnit& unit_;
  Candidates<S> of_;
  PackedShift<float> shift_;
};

/// K: float or double, of scores.
template <class K, class S>
class Search {
 public:
  /// What a thread needs for itself.
  struct Scratch {
    Matrix<K> tile;
    std::vector<double> row, room;
    std::vector<index_t> rows;
    std::vector<K> norms, limits;
    std::vector<std::int32_t> pairs;
    std::vector<std::uint64_t> below;
    index_t measured = 0;
  };

  Search(const Context& ctx, const Rows& x, const SeedingUnit& unit, const Candidates<S>& of, Scores scores,
         RowsInBytes&)
      : kernels_(assign_cpu::select(ctx.simd)),
        score_(assign_cpu::score_kernels<K>(kernels_)),
        x_(x),
        squared_(of.squared),
        measured_(kernels_, x, unit, of),
        count_(of.rows.rows()),
        grouped_(ctx, of.rows, unit.moments, scores, Copies::like_others),
        shift_(unit.moments, grouped_.centroids.scale, score_.lanes),
        to_scores_(grouped_.centroids.scale / unit.scale) {}

  [[nodiscard]] Scratch scratch() const {
    const auto rows = static_cast<std::size_t>(score_.rows);
    Scratch s;
    s.tile = Matrix<K>(x_.cols(), score_.rows);
    s.row.resize(static_cast<std::size_t>(x_.cols())), s.room.resize(2 * s.row.size());
    s.rows.resize(rows), s.norms.resize(rows), s.limits.resize(rows);
    if (grouped_.integers) s.pairs.resize(rows * static_cast<std::size_t>(grouped_.integers->pairs));
    s.below.resize(static_cast<std::size_t>(grouped_.groups * score_.group));
    return s;
  }
  [[nodiscard]] index_t tiles() const { return (x_.rows() + score_.rows - 1) / score_.rows; }
  [[nodiscard]] index_t tile_rows() const { return score_.rows; }

  void tile(index_t t, std::vector<Found<S>>& out, Scratch& s) const {
    const index_t first = t * score_.rows, count = std::min(score_.rows, x_.rows() - first);
    for (index_t r = 0; r < score_.rows; ++r) s.rows[static_cast<std::size_t>(r)] = first + std::min(r, count - 1);
    score(count, s);
    for (index_t q = 0; q < count_; ++q)
      for (std::uint64_t left = s.below[static_cast<std::size_t>(q)]; left != 0; left &= left - 1) {
        ++s.measured;
        measured_.take(first + std::countr_zero(left), q, s.room.data(), out);
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
    const double to_squared = to_scores_ * to_scores_ * (1 + static_cast<double>(x_.cols() + 16) * 0x1p-23);
    for (std::size_t r = 0; r < s.limits.size(); ++r) {
      const auto norm = static_cast<double>(s.norms[r]);
      const double slack = static_cast<double>(m.slack), least = static_cast<double>(m.least);
      const double margin =
          static_cast<double>(m.constant) + static_cast<double>(m.by_norm) * std::sqrt(norm * slack + least);
      const double kept = static_cast<double>(squared_[static_cast<std::size_t>(s.rows[r])]) * to_squared;
      const double fewest = norm * (2 - slack) - least, limit = (kept - fewest) / 2 + margin;
      const double above = limit + up * (kept + norm + margin);
      s.limits[r] = static_cast<index_t>(r) >= count                 ? -std::numeric_limits<K>::infinity()
                    : s.norms[r] <= largest_squared && above <= most ? static_cast<K>(above)
                                                                     : std::numeric_limits<K>::infinity();
    }
  }

  const AssignKernels& kernels_;
  const decltype(assign_cpu::score_kernels<K>(kernels_))& score_;
  const Rows& x_;
  std::span<const S> squared_;
  Measured<S> measured_;
  index_t count_;
  GroupedScores<K> grouped_;
  PackedShift<K> shift_;
  double to_scores_;
};

/// The same by bytes.
template <class S>
class SearchByBytes {
 public:
  struct Scratch : NearerByBytes<S>::Scratch {
    std::vector<double> room;
    index_t measured = 0;
  };

  SearchByBytes(const Context& ctx, const Rows& x, const SeedingUnit& unit, const Candidates<S>& of, Scores,
                RowsInBytes& kept)
      : x_(x),
        near_(ctx, x, unit.moments, of.rows, PerRow<const S>(of.squared), unit.scale, kept),
        measured_(assign_cpu::select(ctx.simd), x, unit, of) {}

  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    static_cast<typename NearerByBytes<S>::Scratch&>(s) = near_.scratch();
    s.room.resize(2 * static_cast<std::size_t>(x_.cols()));
    return s;
  }
  [[nodiscard]] index_t tile_rows() const { return assign_cpu::head_piece; }
  [[nodiscard]] index_t tiles() const { return (x_.rows() + tile_rows() - 1) / tile_rows(); }

  void tile(index_t t, std::vector<Found<S>>& out, Scratch& s) const {
    const index_t first = t * tile_rows();
    near_.pairs(first, static_cast<int>(std::min(tile_rows(), x_.rows() - first)), s, [&](index_t i, index_t q) {
      ++s.measured;
      measured_.take(i, q, s.room.data(), out);
    });
  }

 private:
  const Rows& x_;
  NearerByBytes<S> near_;
  Measured<S> measured_;
};

/// What was found, and for how many pairs that were measured, be it in float32.
template <class S>
struct Result {
  NearerRows<S> found;
  index_t measured = 0;
};

template <class Of, class S>
Result<S> search(const Context& ctx, const Rows& x, const SeedingUnit& unit, const Candidates<S>& candidates,
                 Scores scores, RowsInBytes& kept) {
  const Of search(ctx, x, unit, candidates, scores, kept);
  const index_t pieces = (search.tiles() + tiles_of_piece - 1) / tiles_of_piece;
  const double products = static_cast<double>(tiles_of_piece * search.tile_rows() * x.cols() * candidates.rows.rows());
  const int team = team_size(ctx, pieces, products);
  std::vector<typename Of::Scratch> scratch;
  scratch.reserve(static_cast<std::size_t>(team));
  for (int t = 0; t < team; ++t) scratch.push_back(search.scratch());
  std::vector<std::vector<Found<S>>> parts(static_cast<std::size_t>(pieces));
  parallel_pieces(team, pieces, [&](index_t p, int thread) {
    for (index_t t = p * tiles_of_piece; t < std::min(search.tiles(), (p + 1) * tiles_of_piece); ++t)
      search.tile(t, parts[static_cast<std::size_t>(p)], scratch[static_cast<std::size_t>(thread)]);
  });
  Result<S> result;
  NearerRows<S>& rows = result.found;
  for (const auto& s : scratch) result.measured += s.measured;
  // Sorted by candidates: pieces are in the order of rows, and so is what they found.
  rows.stretches.resize(candidates.numbers.size());
  for (const auto& part : parts)
    for (const auto& found : part) ++rows.stretches[static_cast<std::size_t>(found.candidate)].count;
  index_t all = 0;
  for (auto& [begin, count] : rows.stretches) begin = std::exchange(all, all + std::exchange(count, 0));
  rows.all.resize(static_cast<std::size_t>(all));
  for (const auto& part : parts)
    for (const auto& found : part) {
      auto& [begin, count] = rows.stretches[static_cast<std::size_t>(found.candidate)];
      rows.all[static_cast<std::size_t>(begin + count++)] = found.nearer;
    }
  return result;
}

}  // namespace

template <class S>
NearerRows<S> HostNearerRowSearch<S>::find(std::span<const index_t> numbers, std::span<const S> squared) {
  // Pairs that are measured for nothing may cost as much as better scores would: those of 16 bits read each row again.
  constexpr index_t share = 16, share_of_bytes = 96, least = 8;
  Matrix<double> candidates(std::ssize(numbers), x_.cols());
  gather_rows(ctx_, x_, numbers, candidates.view());
  const bool by_bytes = scores_ == Scores::int8 && can_take_bytes(ctx_, x_, candidates.rows(), least);
  const auto find = by_bytes                     ? search<SearchByBytes<S>, S>
                    : scores_ == Scores::float64 ? search<Search<double, S>, S>
                                                 : search<Search<float, S>, S>;
  auto [found, measured] = find(ctx_, x_, unit_, {numbers, candidates.cview(), squared}, scores_, kept_);
  const index_t in_vain = measured - std::ssize(found.all), count = candidates.rows();
  if (in_vain > x_.rows() * (by_bytes ? count + share_of_bytes : count) / (by_bytes ? share_of_bytes : share))
    kept_ = {}, scores_ = by_bytes ? Scores::int16 : scores_ <= Scores::int16 ? Scores::float32 : Scores::float64;
  return std::move(found);
}

template class HostNearerRowSearch<float>;
template class HostNearerRowSearch<double>;

}  // namespace ts::inline v0::assign_detail
