// k-means||
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/candidate_sample_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t rounds = 5;
constexpr double oversampling = 0.5;

/// The rows that k-means|| keeps, ascending, and what the rows weigh that are nearest to each.
struct Kept {
  std::vector<index_t> rows;
  std::vector<double> weights;
};

/// What the rows weigh that have each of `count` numbers.
std::vector<double> weights_by_number(const KMeansProblem& p, const PerRowArray<std::int32_t>& numbers, index_t count) {
  if (!p.weighted()) {
    auto counts = count_numbers(p.ctx, numbers.view(), count);
    p.ctx.communicator->add(counts);
    return {counts.begin(), counts.end()};
  }
  std::vector<double> weights(at(count));
  const std::vector<std::int32_t> there = numbers.to_host();
  in_turn(p.ctx, weights, [&] {
    for (index_t i = 0; i < p.rows(); ++i) weights[at(there[at(i)])] += p.weight(i);
  });
  return weights;
}

/// The rounds of k-means||, among all rows or a sample of them.
class Oversampling {
 public:
  Oversampling(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream)
      : p_(p),
        seed_(seed),
        stream_(stream),
        all_(p),
        nearest_(p.filled<std::int32_t>(no_label)),
        picked_{draw_by_weight(p, Random(seed, stream + Purpose::first_row).uniform(0))} {
    meet();
  }

  Kept keep(const Chosen& chosen) {
    const index_t size = rounds_sample(p_.all_rows(), p_.cols(), p_.k);
    for (std::uint64_t round = 0; round < rounds && all_.total() > 0; ++round) {
      chosen(std::min(p_.k - 1, static_cast<index_t>(picked_.size())));
      if (size < p_.all_rows() && !sample_) take_sample(round, static_cast<double>(size));
      pick(Random(seed_, stream_ + Purpose::kept + round));
    }
    Kept all;
    const std::vector<double> weights = weigh();
    std::vector<std::size_t> order(picked_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return picked_[a] < picked_[b]; });
    all.rows.reserve(order.size()), all.weights.reserve(order.size());
    for (const std::size_t q : order) all.rows.push_back(picked_[q]), all.weights.push_back(weights[q]);
    return all;
  }

 private:
  void take_sample(std::uint64_t round, double size) {
    sample_.emplace(p_, all_, CandidateSample::Factors{size / 2 / all_.total(), size / 2 / p_.total_weight()},
                    Random(seed_, stream_ + Purpose::samples_of_rounds + round),
                    Random(seed_, stream_ + Purpose::even_samples + round));
    in_sample_ = sample_->problem().filled<std::int32_t>(0);
    at_first_ = sample_->potential().total();
  }

  /// One round.
  void pick(const Random& random) {
    Potential& potential = sample_ ? sample_->potential() : all_;
    if (!(potential.total() > 0)) return;
    const std::vector<index_t> more =
        potential.keep(oversampling * static_cast<double>(p_.k) / potential.total(), random.philox());
    const auto before = static_cast<std::int32_t>(picked_.size());
    for (const index_t row : more) picked_.push_back(sample_ ? sample_->numbers()[at(row)] : row);
    if (!sample_) return meet();
    if (more.empty()) return;
    potential.lower(more, in_sample_.view(), before);
    if (potential.total() > stale * at_first_) return;
    sample_.reset();
    meet();
  }

  /// All rows meet what they have not met.
  void meet() {
    const index_t before = std::exchange(met_, static_cast<index_t>(picked_.size()));
    if (before < met_)
      all_.lower(std::span(picked_).subspan(at(before)), nearest_.view(), static_cast<std::int32_t>(before));
  }

  std::vector<double> weigh() {
    if (!sample_ || met_ > 1) {
      meet();
      return weights_by_number(p_, nearest_, std::ssize(picked_));
    }
    return weights_by_number(sample_->problem(), in_sample_, std::ssize(picked_));
  }

  const KMeansProblem& p_;
  std::uint64_t seed_, stream_;
  Potential all_;
  PerRowArray<std::int32_t> nearest_;  ///< of each row, among the first met_ of those picked
  std::vector<index_t> picked_;
  index_t met_ = 0;
  std::optional<CandidateSample> sample_;
  PerRowArray<std::int32_t> in_sample_;  ///< of each of its rows, where it was taken before all rows met more than one
  double at_first_ = 0;                  ///< potential of the sample
};

}  // namespace

index_t rounds_sample(index_t rows, index_t cols, index_t clusters) {
  constexpr index_t least = index_t{1} << 14, for_each_kept = 16;
  const auto kept_rows = static_cast<index_t>(static_cast<double>(rounds * clusters) * oversampling);
  const index_t size = std::max(least, for_each_kept * kept_rows);
  return 2 * size < rows && cols <= most_sampled / size ? size : rows;
}

Matrix<double> seed_parallel(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, const Chosen& chosen) {
  const Kept kept_rows = Oversampling(p, seed, stream).keep(chosen);
  if (std::ssize(kept_rows.rows) <= p.k) {
    Matrix<double> rows(std::ssize(kept_rows.rows), p.cols());
    p.load_rows(kept_rows.rows, rows.view());
    return seed_plus_plus(p, seed, stream, rows.cview(), chosen);
  }
  const CopiedRows candidates(p, kept_rows.rows);
  const Context here = alone(p.ctx);
  KMeansProblem reduced{here, candidates.rows(), {}, kept_rows.weights, p.k};
  reduced.find_moments();
  return seed_plus_plus(reduced, seed, stream, {}, chosen);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
