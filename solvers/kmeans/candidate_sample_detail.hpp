// Rows from which first centres are chosen. Internal to the room.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tallskinny/solvers/kmeans/potential_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

inline constexpr index_t most_sampled = index_t{1} << 28;  ///< numbers
inline constexpr double stale = 1.0 / 16;                  ///< what is left of a potential when its sample has served

/// Streams of one restart: numbers that serve different purposes never meet.
struct Purpose {
  enum : std::uint64_t { first_row = 0, draws = 1, kept = 2, samples_of_rounds = 16, even_samples = 32, samples = 64 };
};

/// A few rows that stand for all: each row is among them with probability q = min(1, factor w D^2) and weighs
/// w / q, so that potentials of the sample, be it with further centres, are on average those of all rows
/// (Horvitz, Thompson 1952), and draws from it are draws by w D^2.
template <class S>
class CandidateSample {
 public:
  /// `size`: how many rows, about; infinity: all that are no centre. @param room of the sample before
  CandidateSample(const KMeansProblem& p, const Potential<S>& all, const Random& random, double size,
                  PerRowArray<S> room = {})
      : CandidateSample(p, all, {size / all.total(), 0}, all.keep(size / all.total(), random.philox()),
                        std::move(room)) {}
  /// Half of `size` rows so, and as many with a probability in proportion to w alone, so that it also tells what rows
  /// weigh (Bachem, Lucic, Krause 2018, lightweight coresets).
  CandidateSample(const KMeansProblem& p, const Potential<S>& all, const Random& random, const Random& evenly,
                  double size)
      : CandidateSample(p, all, {size / 2 / all.total(), size / 2 / p.total_weight()}, random, evenly) {}
  CandidateSample(const CandidateSample&) = delete;
  CandidateSample& operator=(const CandidateSample&) = delete;

  [[nodiscard]] const KMeansProblem& problem() const noexcept { return problem_; }
  [[nodiscard]] Potential<S>& potential() noexcept { return potential_; }
  /// Its memory, for the next.
  [[nodiscard]] PerRowArray<S> room() && { return std::move(values_); }
  /// Which rows they are.
  [[nodiscard]] const std::vector<index_t>& numbers() const noexcept { return numbers_; }

 private:
  /// A row is kept with a probability of at least by_squared w D^2, and of at least evenly w.
  struct Factors {
    double by_squared, evenly;
    [[nodiscard]] double probability(double weight, double squared) const {
      const double one = std::min(1.0, by_squared * (weight * squared)), other = std::min(1.0, evenly * weight);
      return one + other - one * other;
    }
  };
  CandidateSample(const KMeansProblem& p, const Potential<S>& all, const Factors& factors, const Random& random,
                  const Random& evenly)
      : CandidateSample(
            p, all, factors,
            together(all.keep(factors.by_squared, random.philox()), all.keep_evenly(factors.evenly, evenly.philox())),
            {}) {}
  CandidateSample(const KMeansProblem& p, const Potential<S>& all, const Factors& factors,
                  const std::vector<index_t>& numbers, PerRowArray<S> room)
      : CandidateSample(p, factors, all.squared(numbers), numbers, std::move(room)) {}
  CandidateSample(const KMeansProblem& p, const Factors& factors, const std::vector<S>& squared,
                  const std::vector<index_t>& numbers, PerRowArray<S> room)
      : numbers_(numbers),
        values_(p.scale.empty() ? p.rows_as<S>(numbers_, std::move(room)) : PerRowArray<S>()),
        scaled_(p.scale.empty() ? PerRowArray<double>() : p.rows_as<double>(numbers_)),
        rows_(p.scale.empty() ? rows_of<S>(p.ctx, values_.view(), std::ssize(numbers_), p.cols())
                              : rows_of<double>(p.ctx, scaled_.view(), std::ssize(numbers_), p.cols())),
        weights_(weights(p, factors, numbers_, squared)),
        alone_(alone(p.ctx)),
        problem_{alone_, rows_, {}, weights_, p.k, {}, p.moments},
        potential_(problem_, squared) {
    problem_.place_weights();
  }
  static std::vector<index_t> together(const std::vector<index_t>& some, const std::vector<index_t>& others) {
    std::vector<index_t> all;
    all.reserve(some.size() + others.size());
    std::set_union(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(all));
    return all;
  }
  static std::vector<double> weights(const KMeansProblem& p, const Factors& factors,
                                     const std::vector<index_t>& numbers, const std::vector<S>& squared) {
    std::vector<double> found = p.weights_at(numbers);
    for (std::size_t q = 0; q < numbers.size(); ++q)
      found[q] /= factors.probability(found[q], static_cast<double>(squared[q]));
    return found;
  }

  std::vector<index_t> numbers_;
  PerRowArray<S> values_;       ///< S holds all numbers of the types that are seeded in it
  PerRowArray<double> scaled_;  ///< but not their products with scales of rows
  RowsInMemory rows_;
  std::vector<double> weights_;
  Context alone_;  ///< all ranks hold the sample
  KMeansProblem problem_;
  Potential<S> potential_;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
