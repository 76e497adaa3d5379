#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/assign/assign_detail.hpp"
#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/assign/team_detail.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::assign_detail {

namespace {

using assign_cpu::Kernels;

template <class S>
class DensePass {
  using Index = std::conditional_t<sizeof(S) == sizeof(float), std::int32_t, std::int64_t>;

 public:
  DensePass(const Kernels& kernels, const Rows& x, const ColumnMoments& moments,
            HostView<const double> centroids)
      : kernels_(kernels),
        score_(assign_cpu::score_kernels<S>(kernels)),
        x_(x),
        shift_(moments.shift.data()),
        centroids_(centroids, moments),
        groups_((centroids_.k + score_.group - 1) / score_.group),
        grouped_(groups_ * score_.group, centroids_.d),
        grouped_half_norms_(static_cast<std::size_t>(groups_ * score_.group),
                            std::numeric_limits<S>::infinity()) {
    std::fill_n(grouped_.data(), grouped_.rows() * grouped_.cols(), S{0});
    const index_t d = centroids_.d;
    for (index_t m = 0; m < centroids_.k; ++m) {
      S* to = grouped_.data() + (m / score_.group) * score_.group * d + m % score_.group;
      for (index_t j = 0; j < d; ++j)
        to[j * score_.group] = centroids_.negated[static_cast<std::size_t>(m * d + j)];
    }
    std::copy(centroids_.half_norms.begin(), centroids_.half_norms.end(), grouped_half_norms_.begin());
    // The longer chain of additions of the two kernels that compute scores.
    const double length = static_cast<double>(d), lanes = static_cast<double>(score_.lanes);
    const double by_blocks = std::min<double>(length, assign_cpu::block) + length / assign_cpu::block + 1;
    terms_ = std::max(by_blocks, length / (2 * lanes) + 3 * lanes + 4);
    norm_slack_ = 1 + 2 * (length + 2) * std::numeric_limits<S>::epsilon();
    norm_least_ = length * std::numeric_limits<S>::min();
  }

  /// What a thread needs for itself.
  struct Scratch {
    Matrix<S> rows, tile;
    std::vector<double> row;
    std::vector<S> norms, best, second, scores;
    std::vector<Index> which;
    std::vector<std::int32_t> candidates;
    std::vector<double> candidate_distances;
    AssignStats stats;
  };
  [[nodiscard]] Scratch scratch() const {
    const auto r = static_cast<std::size_t>(score_.rows);
    Scratch s;
    s.rows = Matrix<S>(score_.rows, centroids_.d);
    s.tile = Matrix<S>(centroids_.d, score_.rows);
    s.row.resize(static_cast<std::size_t>(centroids_.d));
    s.norms.resize(r), s.best.resize(r), s.second.resize(r), s.which.resize(r);
    s.scores.resize(static_cast<std::size_t>(centroids_.k));
    s.candidates.reserve(static_cast<std::size_t>(centroids_.k));
    s.candidate_distances.reserve(static_cast<std::size_t>(centroids_.k));
    return s;
  }

  [[nodiscard]] index_t tile_rows() const noexcept { return score_.rows; }

  /// Labels of the rows i0 .. i0 + count - 1, at most tile_rows().
  void tile(index_t i0, index_t count, std::span<std::int32_t> labels, std::span<const double> weights,
            const FixedPoint* unit, ClusterSums* sums, Scratch& s) const {
    score_.pack(x_, i0, count, shift_, centroids_.scale, s.row.data(), s.rows.data(), s.tile.data(),
                s.norms.data());
    score_.best_two(s.tile.data(), centroids_.d, grouped_.data(), grouped_half_norms_.data(), groups_,
                    s.best.data(), s.second.data(), s.which.data());
    for (index_t r = 0; r < count; ++r) {
      const auto at = static_cast<std::size_t>(r);
      const double norm = std::sqrt(static_cast<double>(s.norms[at]) * norm_slack_ + norm_least_);
      const double bound = score_bound<S>(terms_, norm, centroids_.largest_norm, centroids_.d);
      const double gap = static_cast<double>(s.second[at]) - static_cast<double>(s.best[at]);
      auto nearest = static_cast<std::int32_t>(s.which[at]);
      if (!(gap > 2 * bound)) nearest = resolve(i0 + r, s.rows.data() + r * centroids_.d, bound, s);
      std::int32_t& label = labels[static_cast<std::size_t>(i0 + r)];
      if (label == nearest) continue;
      ++s.stats.changed;
      const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i0 + r)];
      if (sums != nullptr && weight != 0) move(i0 + r, label, nearest, weight, *unit, *sums, s);
      label = nearest;
    }
  }

 private:
  /// The nearest centroid of a row whose scores are too close to tell.
  std::int32_t resolve(index_t i, const S* row, double bound, Scratch& s) const {
    ++s.stats.rescored;
    const index_t d = centroids_.d;
    score_.row_scores(row, d, centroids_.negated.data(), centroids_.half_norms.data(), centroids_.k,
                      s.scores.data());
    const double least = *std::min_element(s.scores.begin(), s.scores.end());
    s.candidates.clear();
    for (index_t m = 0; m < centroids_.k; ++m)
      if (static_cast<double>(s.scores[static_cast<std::size_t>(m)]) - least <= 2 * bound)
        s.candidates.push_back(static_cast<std::int32_t>(m));
    if (s.candidates.size() == 1) return s.candidates.front();

    x_.load(i, s.row.data());
    for (double& value : s.row) value *= centroids_.shrink;
    const double factor = centroids_.scale / centroids_.shrink;
    s.candidate_distances.clear();
    for (const std::int32_t m : s.candidates)
      s.candidate_distances.push_back(
          squared_distance<double>(s.row.data(), centroids_.exact.data() + m * d, d, factor));
    const double least_distance =
        *std::min_element(s.candidate_distances.begin(), s.candidate_distances.end());
    const double limit = least_distance * (1 + static_cast<double>(d + 3) * 0x1p-51);
    std::int32_t nearest = -1;
    long double nearest_distance = 0;
    for (std::size_t q = 0; q < s.candidates.size(); ++q) {
      if (s.candidate_distances[q] > limit) continue;
      const std::int32_t m = s.candidates[q];
      const auto distance =
          squared_distance<long double>(s.row.data(), centroids_.exact.data() + m * d, d, factor);
      if (nearest < 0 || distance < nearest_distance) nearest = m, nearest_distance = distance;
    }
    return nearest;
  }

  void move(index_t i, std::int32_t from, std::int32_t to, double weight, const FixedPoint& unit,
            ClusterSums& sums, Scratch& s) const {
    kernels_.centred(x_, i, shift_, s.row.data());
    const double one = std::ldexp(1.0, unit.bits), w = weight * unit.weight_to_units;
    if (from >= 0) {
      kernels_.accumulate(s.row.data(), -w, unit.to_units.data(), one, centroids_.d, sums.upper(from),
                          sums.lower(from));
      sums.add_weight(unit, from, weight, true);
    }
    kernels_.accumulate(s.row.data(), w, unit.to_units.data(), one, centroids_.d, sums.upper(to),
                        sums.lower(to));
    sums.add_weight(unit, to, weight, false);
  }

  const Kernels& kernels_;
  const assign_cpu::ScoreKernels<S, Index>& score_;
  const Rows& x_;
  const double* shift_;
  Scored<S> centroids_;
  index_t groups_;
  Matrix<S> grouped_;
  std::vector<S> grouped_half_norms_;
  double terms_ = 0, norm_slack_ = 1, norm_least_ = 0;
};

}  // namespace

template <class S>
AssignStats assign_dense(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                         HostView<const double> centroids, std::span<std::int32_t> labels,
                         std::span<const double> weights, const FixedPoint* unit, ClusterSums* sums) {
  const DensePass<S> pass(assign_cpu::select(ctx.simd), x, moments, centroids);
  const index_t tile = pass.tile_rows(), tiles = (x.rows() + tile - 1) / tile;
  // Work is handed out in pieces that fit in a core's cache, and at least eight for each thread.
  const auto threads = static_cast<index_t>(ctx.thread_count());
  const index_t fitting = std::max<index_t>(1, (index_t{1} << 15) / std::max<index_t>(1, x.cols() * tile));
  const index_t piece = std::clamp<index_t>(tiles / (8 * threads), 1, fitting);
  const index_t pieces = (tiles + piece - 1) / piece;
  const int team = team_size(
      ctx, pieces, static_cast<double>(piece * tile * x.cols()) * static_cast<double>(centroids.rows()));

  return for_each_piece(team, pass, pieces, sums, [&](index_t p, ClusterSums* own, auto& scratch) {
    for (index_t i = p * piece * tile; i < std::min(x.rows(), (p + 1) * piece * tile); i += tile)
      pass.tile(i, std::min(tile, x.rows() - i), labels, weights, unit, own, scratch);
  });
}

#define TS_INSTANTIATE(S)                                                                 \
  template AssignStats assign_dense<S>(const Context&, const Rows&, const ColumnMoments&, \
                                       HostView<const double>, std::span<std::int32_t>,   \
                                       std::span<const double>, const FixedPoint*, ClusterSums*);
TS_INSTANTIATE(float)
TS_INSTANTIATE(double)
#undef TS_INSTANTIATE

}  // namespace ts::assign_detail
