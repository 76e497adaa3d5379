// k-means||
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/seeding/candidate_sample_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t rounds = 5;
constexpr double oversampling = 0.5;

/// The rows that k-means|| keeps, ascending, and what the rows weigh that are nearest to each.
struct Kept {
  std::vector<index_t> rows;
  std::vector<double> weights;
};

/// The rounds of k-means||, among all rows or a sample of them.
class Oversampling {
 public:
  Oversampling(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream)
      : p_(p),
        seed_(seed),
        stream_(stream),
        size_(rounds_sample(p.all_rows(), p.cols(), p.k)),
        samples_(size_ < p.all_rows()),
        all_(p),
        picked_{draw_by_weight(p, Random(seed, stream + Purpose::first_row).uniform(0))} {
    if (!samples_) nearest_ = p.filled<std::int32_t>(no_label);
    measure();
  }

  Kept keep(const SeedProgress& report) {
    for (std::uint64_t round = 0; round < rounds && all_.total() > 0; ++round) {
      report(std::min(p_.k - 1, static_cast<index_t>(picked_.size())));
      if (samples_ && sample_ == nullptr) take_sample(round);
      pick(Random(seed_, stream_ + Purpose::kept + round));
    }
    const std::vector<double> weights = weigh();
    std::vector<std::size_t> order(picked_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return picked_[a] < picked_[b]; });
    Kept all;
    for (const std::size_t q : order) all.rows.push_back(picked_[q]), all.weights.push_back(weights[q]);
    return all;
  }

 private:
  void take_sample(std::uint64_t round) {
    const double half = static_cast<double>(size_) / 2;
    const CandidateSample::Factors factors{half / all_.total(), half / p_.total_weight()};
    std::optional<CandidateSample>& to = first_ ? later_ : first_;
    to.emplace(p_, all_, factors, Random(seed_, stream_ + Purpose::samples_of_rounds + round),
               Random(seed_, stream_ + Purpose::even_samples + round));
    sample_ = &*to;
    at_first_ = sample_->potential().total();
    if (!later_) nearest_ = sample_->problem().filled<std::int32_t>(0);
  }

  /// One round.
  void pick(const Random& random) {
    Potential& potential = sample_ != nullptr ? sample_->potential() : all_;
    if (!(potential.total() > 0)) return;
    const std::vector<index_t> more =
        potential.keep(oversampling * static_cast<double>(p_.k) / potential.total(), random.philox());
    const auto before = static_cast<std::int32_t>(picked_.size());
    for (const index_t row : more) picked_.push_back(sample_ != nullptr ? sample_->numbers()[at(row)] : row);
    if (sample_ == nullptr) return measure();
    potential.lower(more, later_ ? PerRow<std::int32_t>() : nearest_.view(), before);
    if (!later_) met_first_ = std::ssize(picked_);
    if (potential.total() > stale * at_first_) return;
    sample_ = nullptr;
    measure();
  }

  /// Compares all rows with the picked rows that they were not compared with yet.
  void measure() {
    const index_t before = std::exchange(met_, static_cast<index_t>(picked_.size()));
    all_.lower(std::span(picked_).subspan(at(before)), samples_ ? PerRow<std::int32_t>() : nearest_.view(),
               static_cast<std::int32_t>(before));
  }

  /// Weight of the rows that are nearest to each picked one, by the first sample, which includes far rows.
  std::vector<double> weigh() {
    if (first_ && met_first_ < std::ssize(picked_)) {
      const auto others = std::span(picked_).subspan(at(met_first_));
      Matrix<double> centers(std::ssize(others), p_.cols());
      p_.load_rows(others, centers.view());
      first_->potential().lower(centers.cview(), nearest_.view(), static_cast<std::int32_t>(met_first_));
    }
    if (samples_ && !first_) return {1.0};  // all rows are equal
    const KMeansProblem& weighed = first_ ? first_->problem() : p_;
    std::vector<double> weights(picked_.size());
    const std::vector<std::int32_t> numbers = nearest_.to_host();
    in_turn(weighed.ctx, weights, [&] {
      for (index_t i = 0; i < weighed.rows(); ++i) weights[at(numbers[at(i)])] += weighed.weight(i);
    });
    return weights;
  }

  const KMeansProblem& p_;
  std::uint64_t seed_, stream_;
  index_t size_;
  bool samples_;
  Potential all_;
  std::vector<index_t> picked_;
  index_t met_ = 0, met_first_ = 1;  ///< of these, by all rows and by the first sample
  std::optional<CandidateSample> first_, later_;
  CandidateSample* sample_ = nullptr;  ///< one of them, or none
  PerRowArray<std::int32_t> nearest_;  ///< of each row of the first sample, or of all where none is taken
  double at_first_ = 0;                ///< potential of the sample
};

}  // namespace

index_t rounds_sample(index_t rows, index_t cols, index_t clusters) {
  constexpr index_t least = index_t{1} << 14, for_each_kept = 16;
  const auto kept_rows = static_cast<index_t>(static_cast<double>(rounds * clusters) * oversampling);
  const index_t size = std::max(least, for_each_kept * kept_rows);
  return 2 * size < rows && cols <= most_sampled / size ? size : rows;
}

Matrix<double> seed_parallel(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream,
                             const SeedProgress& report) {
  const Kept kept_rows = Oversampling(p, seed, stream).keep(report);
  if (std::ssize(kept_rows.rows) <= p.k) {
    Matrix<double> rows(std::ssize(kept_rows.rows), p.cols());
    p.load_rows(kept_rows.rows, rows.view());
    return seed_plus_plus(p, seed, stream, rows.cview(), report);
  }
  const CopiedRows candidates(p, kept_rows.rows);
  const Context here = alone(p.ctx);
  KMeansProblem reduced{here, candidates.rows(), {}, kept_rows.weights, p.k};
  reduced.find_moments();
  return seed_plus_plus(reduced, seed, stream, {}, report);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
