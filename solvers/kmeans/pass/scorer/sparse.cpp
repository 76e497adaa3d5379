#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/host_pass.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/squared_distance.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0::assign_detail {

namespace {

/// The longest row decides how much room a thread needs.
index_t longest_row(const Rows& x) {
  index_t longest = 0;
  for (index_t i = 0; i < x.rows(); ++i) longest = std::max(longest, x.entries(i));
  return longest;
}

template <class S>
class SparsePass {
  using Index = std::conditional_t<sizeof(S) == sizeof(float), std::int32_t, std::int64_t>;

 public:
  SparsePass(const Context& ctx, const AssignArguments& of)
      : kernels_(assign_cpu::select(ctx.simd)),
        score_(assign_cpu::score_kernels<S>(kernels_)),
        of_(of),
        x_(of.x),
        centroids_(ctx, of.centroids, of.moments),
        padded_((centroids_.k + score_.lanes - 1) / score_.lanes * score_.lanes),
        longest_(longest_row(x_)),
        transposed_(Matrix<S>::zeros(centroids_.d, padded_)),
        half_norms_(at(padded_), std::numeric_limits<S>::infinity()) {
    for (double& c : centroids_.exact) c *= centroids_.scale / centroids_.shrink;
    for (index_t m = 0; m < centroids_.k; ++m) {
      for (index_t j = 0; j < centroids_.d; ++j) transposed_(j, m) = centroids_.negated[at(m * centroids_.d + j)];
      squared_norms_.push_back(squared_norm<long double>(centroids_.exact.data() + m * centroids_.d, centroids_.d));
    }
    std::copy(centroids_.half_norms.begin(), centroids_.half_norms.end(), half_norms_.begin());
  }

  struct Scratch {
    std::vector<double> row;
    std::vector<S> values, scores;
    std::vector<index_t> rows;
    AssignStats stats;
    ClusterSums* sums = nullptr;
  };
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    s.row.resize(at(longest_));
    s.values.resize(at(longest_));
    s.scores.resize(at(padded_));
    return s;
  }

  /// Labels of the rows i0 .. i0 + count - 1.
  void piece(index_t i0, index_t count, Scratch& s) const {
    index_t undecided = count;
    s.rows.resize(at(count) + 1);
    if (of_.bounds.hold())
      undecided = kernels_.screen(of_.bounds.all->steps(), of_.labels.data + i0, count, of_.bounds.upper(i0),
                                  of_.bounds.lower(i0), s.rows.data());
    else
      std::iota(s.rows.begin(), s.rows.end(), index_t{0});
    s.stats.skipped += count - undecided;
    for (index_t q = 0; q < undecided; ++q) row(i0 + s.rows[at(q)], s);
  }

 private:
  void row(index_t i, Scratch& s) const {
    const index_t entries = x_.entries(i);
    const std::int32_t* columns = x_.indices() + x_.pointers()[i];
    x_.load_entries(i, s.row.data());
    double squared = 0;
    for (index_t p = 0; p < entries; ++p) {
      const double value = s.row[at(p)] * centroids_.scale;
      s.values[at(p)] = static_cast<S>(value);
      squared += value * value;
    }
    const double rounding = squared * 4 * static_cast<double>(entries + 4) * std::numeric_limits<double>::epsilon();
    const double norm =
        std::sqrt(squared) * (1 + 1e-6) + std::sqrt(static_cast<double>(entries)) * std::numeric_limits<S>::min();
    S best{}, second{};
    Index which{};
    score_.best_two_sparse({s.values.data(), columns, entries}, {transposed_.data(), half_norms_.data(), padded_},
                           s.scores.data(), {&best, &second, &which});
    const double bound = score_bound<S>(static_cast<double>(entries), norm, centroids_.largest_norm, entries);
    auto nearest = static_cast<std::int32_t>(which);
    float upper = std::numeric_limits<float>::infinity(), lower = 0;
    if (static_cast<double>(second) - static_cast<double>(best) > 2 * bound) {
      // ||x - c||^2 = ||x||^2 + 2 score.
      const double far = std::max(0.0, squared + rounding + 2 * (static_cast<double>(best) + 2 * bound));
      const double near = std::max(0.0, squared - rounding + 2 * (static_cast<double>(second) - 2 * bound));
      upper = static_cast<float>(std::sqrt(far)) * (1 + 0x1p-22F);
      lower = static_cast<float>(std::sqrt(near)) * (1 - 0x1p-22F);
    } else if (of_.proven()) {
      nearest = resolve(columns, entries, static_cast<double>(best) + 2 * bound, s);
    }
    if (of_.bounds.all != nullptr) *of_.bounds.upper(i) = upper, *of_.bounds.lower(i) = lower;
    relabel(of_, i, nearest, s.stats, [&](std::int32_t label, double weight) {
      if (label >= 0) s.sums->add_sparse(*of_.unit, label, s.row.data(), columns, entries, weight, true);
      s.sums->add_sparse(*of_.unit, nearest, s.row.data(), columns, entries, weight);
    });
  }

  std::int32_t resolve(const std::int32_t* columns, index_t entries, double limit, Scratch& s) const {
    ++s.stats.rescored;
    std::vector<double>& row = s.row;
    for (index_t p = 0; p < entries; ++p) row[at(p)] *= centroids_.scale;
    std::int32_t nearest = -1;
    long double nearest_distance = 0;
    for (index_t m = 0; m < centroids_.k; ++m) {
      if (static_cast<double>(s.scores[at(m)]) > limit) continue;
      const long double distance = sparse_squared_distance(
          row.data(), columns, entries, centroids_.exact.data() + m * centroids_.d, squared_norms_[at(m)]);
      if (nearest < 0 || distance < nearest_distance)
        nearest = static_cast<std::int32_t>(m), nearest_distance = distance;
    }
    for (index_t p = 0; p < entries; ++p) row[at(p)] /= centroids_.scale;
    return nearest;
  }

  const assign_cpu::AssignKernels& kernels_;
  const assign_cpu::ScoreKernels<S, Index>& score_;
  const AssignArguments& of_;
  const Rows& x_;
  Scored<S> centroids_;
  index_t padded_, longest_;
  Matrix<S> transposed_;
  std::vector<S> half_norms_;
  std::vector<long double> squared_norms_;
};

}  // namespace

template <class S>
AssignStats assign_sparse(const Context& ctx, const AssignArguments& of) {
  const Rows& x = of.x;
  const index_t n = std::max<index_t>(x.rows(), 1);
  const double entries = static_cast<double>(x.pointers()[x.rows()] - x.pointers()[0]) / static_cast<double>(n);
  return run_pass(
      ctx, of, SparsePass<S>(ctx, of),
      {std::clamp<index_t>(n / (16 * ctx.thread_count()), 1, 1024), entries * static_cast<double>(of.centroids.rows())},
      std::is_same_v<S, double> ? "float64" : "float32", of.bounds.filter());
}

template AssignStats assign_sparse<float>(const Context&, const AssignArguments&);
template AssignStats assign_sparse<double>(const Context&, const AssignArguments&);

}  // namespace ts::inline v0::assign_detail
