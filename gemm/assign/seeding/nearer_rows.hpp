// Rows that a candidate is nearer to than all centres so far. Internal to the room.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "tallskinny/gemm/assign/scores/bytes.hpp"
#include "tallskinny/gemm/assign/seeding/nearer_policy.hpp"
#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::inline v0::assign_detail {

/// A row to which a candidate is nearer, and its squared distance.
template <class S>
struct NearerRow {
  std::int32_t row;
  S squared;
};

/// For each candidate the rows that it is nearer to, in order; some of the others may be among them.
template <class S>
struct NearerRows {
  /// Where those of a candidate lie, and at least what sum_i w_i D_i^2 falls by with it, D_i^2 being as in the search.
  struct Stretch {
    index_t begin, count;
    double most_gain;
  };
  std::span<const NearerRow<S>> all;
  std::span<const Stretch> stretches;  ///< one for each candidate

  [[nodiscard]] std::span<const NearerRow<S>> of(index_t candidate) const {
    const Stretch& s = stretches[static_cast<std::size_t>(candidate)];
    return all.subspan(static_cast<std::size_t>(s.begin), static_cast<std::size_t>(s.count));
  }
  [[nodiscard]] double most_gain(index_t candidate) const {
    return stretches[static_cast<std::size_t>(candidate)].most_gain;
  }
};

/// What sum_i w_i D_i^2 falls by with a candidate. Four sums, since each addition would wait for the one before.
template <class S>
[[nodiscard]] double gain_of(std::span<const NearerRow<S>> nearer, std::span<const S> squared,
                             std::span<const double> weights) noexcept {
  std::array<double, 4> sums{};
  const auto add = [&](std::size_t q, double& sum) {
    const auto row = static_cast<std::size_t>(nearer[q].row);
    sum += (weights.empty() ? 1.0 : weights[row]) *
           std::max(0.0, static_cast<double>(squared[row]) - static_cast<double>(nearer[q].squared));
  };
  std::size_t q = 0;
  for (; q + sums.size() <= nearer.size(); q += sums.size())
    for (std::size_t u = 0; u < sums.size(); ++u) add(q + u, sums[u]);
  for (; q < nearer.size(); ++q) add(q, sums[0]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Finds them where the rows lie.
template <class S>
class NearerRowSearch {
 public:
  NearerRowSearch() = default;
  NearerRowSearch(const NearerRowSearch&) = delete;
  NearerRowSearch& operator=(const NearerRowSearch&) = delete;
  virtual ~NearerRowSearch() = default;

  /// Begins a search. @param candidates their numbers among the rows. @param squared D_i^2 of each row in the
  /// coordinates of the unit. Both may change once it returns.
  virtual void begin(std::span<const index_t> candidates, std::span<const S> squared) = 0;
  /// Ends the oldest search that began. None where it would take too long. What was found stays until the next
  /// begin().
  [[nodiscard]] virtual std::optional<NearerRows<S>> end() = 0;
  /// How many searches are best under way at once, 1 or 2.
  [[nodiscard]] virtual int depth() const noexcept = 0;
  /// Candidates that are best asked for at once, at most, when there are so many centres.
  [[nodiscard]] virtual index_t most_candidates(index_t centers) const noexcept = 0;
};

/// Scores (assign/scores) with a bound on their errors find all pairs of row and candidate that may be closer than
/// what is kept for the row: as fast as a pass of assign(). These pairs, of which there are few, are measured by
/// differences in float64. S: float or double.
template <class S>
class HostNearerRowSearch final : public NearerRowSearch<S> {
 public:
  /// Of dense rows in host memory, with their weights or none; all of these must outlive the search.
  HostNearerRowSearch(const Context& ctx, const Rows& x, const SeedingUnit& unit, std::span<const double> weights)
      : ctx_(ctx), x_(x), unit_(unit), weights_(weights) {}

  void begin(std::span<const index_t> candidates, std::span<const S> squared) override;
  [[nodiscard]] std::optional<NearerRows<S>> end() override { return NearerRows<S>{all_, stretches_}; }
  [[nodiscard]] int depth() const noexcept override { return 1; }
  [[nodiscard]] index_t most_candidates(index_t) const noexcept override { return 1024; }

 private:
  const Context& ctx_;
  const Rows& x_;
  const SeedingUnit& unit_;
  std::span<const double> weights_;
  Scores scores_ = Scores::int8;  ///< more accurate ones once too many pairs are measured for nothing
  RowsInBytes kept_;
  std::vector<NearerRow<S>> all_;
  std::vector<typename NearerRows<S>::Stretch> stretches_;
};

extern template class HostNearerRowSearch<float>;
extern template class HostNearerRowSearch<double>;

}  // namespace ts::inline v0::assign_detail
