#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"
#include "tallskinny/solvers/kmeans/variants/variants_detail.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr std::uint64_t batches = 64, reassigned = 65, sample = 66;  // streams of a restart
constexpr int patience = 10;                                         // steps without a better smoothed inertia
constexpr double least_share = 0.01;  // of the heaviest centre, below which a centre is put elsewhere

class MiniBatch {
 public:
  MiniBatch(const KMeansProblem& p, const KMeansOptions& o, const LloydControl& control)
      : p_(p),
        o_(o),
        control_(control),
        n_(p.all_rows()),
        batch_(std::min(o.batch, n_)),
        stream_(static_cast<std::uint64_t>(control.run) << 8),
        unit_(unit_of(p)),
        weight_(at(p.k)) {}

  LloydRun run(const FirstCenters& first) {
    const index_t seeds = std::min(n_, 3 * std::max(batch_, p_.k));
    std::vector<index_t> numbers(at(seeds));
    std::iota(numbers.begin(), numbers.end(), index_t{0});
    if (seeds < n_) numbers = drawn(sample, 0, seeds);
    run_.centers = first(*GatheredProblem(p_, numbers));
    const auto steps = static_cast<std::uint64_t>(static_cast<double>(o_.max_iter) *
                                                  std::ceil(static_cast<double>(n_) / static_cast<double>(batch_)));
    for (std::uint64_t step = 0; step < steps && goes_on(step); ++step) take(step);
    run_.rescored = label_all(p_, run_.centers.cview(), control_.scores, run_.labels);
    return std::move(run_);
  }

 private:
  [[nodiscard]] std::vector<index_t> drawn(std::uint64_t purpose, std::uint64_t step, index_t count) const {
    const Random random(o_.seed, stream_ + purpose);
    std::vector<index_t> numbers(at(count));
    for (std::size_t q = 0; q < numbers.size(); ++q)
      numbers[q] = static_cast<index_t>(random.below(static_cast<std::uint64_t>(n_), step * numbers.size() + q));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  void take(std::uint64_t step) {
    const GatheredProblem batch(p_, drawn(batches, step, batch_));
    std::vector<std::int32_t> labels(at(batch_), -1);
    ClusterSums sums(p_.k, p_.cols());
    assign(p_.ctx,
           {batch.rows(), p_.moments, run_.centers.cview(), Scores::float32, labels, batch.weights(), &unit_, &sums});
    auto means = Matrix<double>::copy_of(run_.centers.cview());
    const std::vector<double> weights = move_to_means(*batch, unit_, sums, labels, means.view()).weights;
    const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double inertia = ts::inertia(p_.ctx, batch.rows(), run_.centers.cview(), labels, batch.weights());
    if (weight > 0) smooth(inertia / weight);
    squared_shift_ = 0;
    for (index_t m = 0; m < p_.k; ++m) {
      if (weights[at(m)] == 0) continue;
      double& all = weight_[at(m)];
      all += weights[at(m)];
      const double share = weights[at(m)] / all;
      Matrix<double> center(1, p_.cols());
      for (index_t j = 0; j < p_.cols(); ++j)
        center(0, j) = run_.centers(m, j) + share * (means(m, j) - run_.centers(m, j));
      if (control_.spherical && normalise(center.view()) != 0) continue;
      for (index_t j = 0; j < p_.cols(); ++j) {
        squared_shift_ += std::pow(center(0, j) - run_.centers(m, j), 2);
        run_.centers(m, j) = center(0, j);
      }
    }
    const auto often = static_cast<std::uint64_t>(std::max<index_t>(1, 10 * p_.k / batch_));
    if ((step + 1) % often == 0) reassign(batch, step);
    ++run_.n_iter;
  }

  /// Share of a step in the smoothed inertia.
  [[nodiscard]] double part() const {
    return std::min(1.0, 2 * static_cast<double>(batch_) / (static_cast<double>(n_) + 1));
  }

  void smooth(double inertia) {
    smoothed_ = smoothed_ < 0 ? inertia : smoothed_ + part() * (inertia - smoothed_);
    ++without_progress_;
    if (smoothed_ < least_) least_ = smoothed_, without_progress_ = 0;
  }

  void reassign(const GatheredProblem& batch, std::uint64_t step) {
    const double heaviest = *std::max_element(weight_.begin(), weight_.end());
    double lightest_kept = heaviest;
    std::vector<index_t> low;
    for (index_t m = 0; m < p_.k; ++m) {
      const double w = weight_[at(m)];
      if (w < least_share * heaviest)
        low.push_back(m);
      else
        lightest_kept = std::min(lightest_kept, w);
    }
    // Half of a batch at most moves at once.
    if (std::ssize(low) > batch_ / 2) low.resize(at(batch_ / 2));
    const Random random(o_.seed, stream_ + reassigned);
    std::vector<double> row(at(p_.cols()));
    for (const index_t m : low) {
      const auto i = static_cast<index_t>(random.below(
          static_cast<std::uint64_t>(batch_), step * static_cast<std::uint64_t>(p_.k) + static_cast<std::uint64_t>(m)));
      if (!batch.weights().empty() && batch.weights()[at(i)] == 0) continue;
      batch.rows().load(i, row.data());
      if (control_.spherical && std::all_of(row.begin(), row.end(), [](double x) { return x == 0; })) continue;
      std::copy(row.begin(), row.end(), run_.centers.data() + m * p_.cols());
      weight_[at(m)] = lightest_kept;
      ++run_.relocated;
    }
  }

  [[nodiscard]] bool goes_on(std::uint64_t step) {
    if (without_progress_ >= patience) {
      run_.stop = KMeansStop::tolerance;
      return false;
    }
    if (step > 0 && control_.is_watched()) {
      KMeansProgress now = control_.progress(p_.k, run_.n_iter);
      now.squared_shift = squared_shift_, now.relocated = run_.relocated;
      now.inertia = smoothed_ * p_.total_weight();
      if (!(*control_.on_progress)(now)) {
        run_.stop = KMeansStop::interrupted;
        return false;
      }
    }
    return true;
  }

  const KMeansProblem& p_;
  const KMeansOptions& o_;
  const LloydControl& control_;
  index_t n_, batch_;  ///< rows of all, of a step
  std::uint64_t stream_;
  FixedPoint unit_;
  std::vector<double> weight_;  ///< of all rows ever given to a centre
  double squared_shift_ = 0, smoothed_ = -1, least_ = inf;
  int without_progress_ = 0;
  LloydRun run_;
};

}  // namespace

LloydRun mini_batch(const KMeansProblem& problem, const KMeansOptions& options, const FirstCenters& first,
                    const LloydControl& control) {
  return MiniBatch(problem, options, control).run(first);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
