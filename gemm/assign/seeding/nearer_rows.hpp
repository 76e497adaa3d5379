// Rows that a candidate is nearer to than all centres so far. Internal to the room.
#pragma once

#include <optional>
#include <span>
#include <vector>

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
  /// Where those of a candidate lie.
  struct Stretch {
    index_t begin, count;
  };
  std::span<const NearerRow<S>> all;
  std::span<const Stretch> stretches;  ///< one for each candidate

  [[nodiscard]] std::span<const NearerRow<S>> of(index_t candidate) const {
    const Stretch& s = stretches[static_cast<std::size_t>(candidate)];
    return all.subspan(static_cast<std::size_t>(s.begin), static_cast<std::size_t>(s.count));
  }
};

/// Finds them where the rows lie.
template <class S>
class NearerRowSearch {
 public:
  NearerRowSearch() = default;
  NearerRowSearch(const NearerRowSearch&) = delete;
  NearerRowSearch& operator=(const NearerRowSearch&) = delete;
  virtual ~NearerRowSearch() = default;

  /// @param candidates their numbers among the rows. @param squared D_i^2 of each row in the coordinates of the unit.
  /// None where it would take too long. What is found stays until the next call.
  [[nodiscard]] virtual std::optional<NearerRows<S>> find(std::span<const index_t> candidates,
                                                          std::span<const S> squared) = 0;
  /// Candidates that are best asked for at once, at most, when there are so many centres.
  [[nodiscard]] virtual index_t most_candidates(index_t centers) const noexcept = 0;
};

/// Scores (assign/scores) with a bound on their errors find all pairs of row and candidate that may be closer than
/// what is kept for the row: as fast as a pass of assign(). These pairs, of which there are few, are measured by
/// differences in float64. S: float or double.
template <class S>
class HostNearerRowSearch final : public NearerRowSearch<S> {
 public:
  /// Of dense rows in host memory; all of these must outlive the search.
  HostNearerRowSearch(const Context& ctx, const Rows& x, const SeedingUnit& unit) : ctx_(ctx), x_(x), unit_(unit) {}

  [[nodiscard]] std::optional<NearerRows<S>> find(std::span<const index_t> candidates,
                                                  std::span<const S> squared) override;
  [[nodiscard]] index_t most_candidates(index_t) const noexcept override { return 1024; }

 private:
  const Context& ctx_;
  const Rows& x_;
  const SeedingUnit& unit_;
  Scores scores_ = Scores::int16;  ///< more accurate ones once too many pairs are measured for nothing
  std::vector<NearerRow<S>> all_;
  std::vector<typename NearerRows<S>::Stretch> stretches_;
};

extern template class HostNearerRowSearch<float>;
extern template class HostNearerRowSearch<double>;

}  // namespace ts::inline v0::assign_detail
