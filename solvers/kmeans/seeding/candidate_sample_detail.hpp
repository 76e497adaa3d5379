// Weighted sample of rows from which first centres are chosen. Internal to the room.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/all_potential_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

inline constexpr index_t most_sampled = index_t{1} << 27;  ///< numbers
inline constexpr double stale = 1.0 / 16;                  ///< what is left of a potential when its sample has served

/// Random streams of one restart: numbers that serve different purposes are never shared.
struct Purpose {
  enum : std::uint64_t { first_row = 0, draws = 1, kept = 2, samples_of_rounds = 16, even_samples = 32, samples = 64 };
};

/// A weighted sample of the rows. Each row is in it with a probability q of at least min(1, by_squared w D^2), and of
/// at least min(1, evenly w), and weighs w / q. So potentials of the sample, also with further centres, are on average
/// those of all rows (Horvitz, Thompson 1952), and draws from it are draws by w D^2. Rows that are kept evenly
/// represent the weights of all rows (Bachem, Lucic, Krause 2018, lightweight coresets).
class CandidateSample {
 public:
  struct Factors {
    double by_squared, evenly = 0;
    [[nodiscard]] double probability(double weight, double squared) const {
      const double one = std::min(1.0, by_squared * (weight * squared)), other = std::min(1.0, evenly * weight);
      return one + other - one * other;
    }
  };
  CandidateSample(const KMeansProblem& p, const Potential& all, const Factors& factors, const Random& random,
                  const Random& evenly, CopiedRows::Storage storage = {})
      : numbers_(keep(all, factors, random, evenly)),
        copies_(p, numbers_, std::move(storage)),
        squared_(all.squared(numbers_)),
        weights_(p.weights_at(numbers_)),
        alone_(alone(p.ctx)),
        problem_{alone_, copies_.rows(), {}, weigh(factors), p.k, {}, p.moments},
        potential_(problem_, squared_) {
    problem_.place_weights();
  }
  CandidateSample(const CandidateSample&) = delete;
  CandidateSample& operator=(const CandidateSample&) = delete;

  [[nodiscard]] const KMeansProblem& problem() const noexcept { return problem_; }
  [[nodiscard]] Potential& potential() noexcept { return potential_; }
  /// Memory of the sample, for the next one.
  [[nodiscard]] CopiedRows::Storage storage() && { return std::move(copies_).storage(); }
  /// Numbers of the rows.
  [[nodiscard]] const std::vector<index_t>& numbers() const noexcept { return numbers_; }

 private:
  static std::vector<index_t> keep(const Potential& all, const Factors& factors, const Random& random,
                                   const Random& evenly) {
    const std::vector<index_t> some = all.keep(factors.by_squared, random.philox());
    if (factors.evenly == 0) return some;
    const std::vector<index_t> others = all.keep_evenly(factors.evenly, evenly.philox());
    std::vector<index_t> together;
    std::set_union(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(together));
    return together;
  }
  std::span<const double> weigh(const Factors& factors) {
    for (std::size_t q = 0; q < weights_.size(); ++q) weights_[q] /= factors.probability(weights_[q], squared_[q]);
    return weights_;
  }

  std::vector<index_t> numbers_;
  CopiedRows copies_;
  std::vector<double> squared_, weights_;
  Context alone_;  ///< all ranks hold the sample
  KMeansProblem problem_;
  Potential potential_;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
