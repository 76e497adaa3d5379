// Squared distances of all rows to the nearest of a growing set of centres, and draws in proportion to them.
// Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/problem_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Distances are computed and kept where the rows are, 8 bytes for each row. Sums belong to fixed chunks of rows and
/// are added in order: bits do not depend on the number of threads or ranks. With several ranks all of them make all
/// calls, and row numbers are those of all rows.
class Potential {
 public:
  explicit Potential(const KMeansProblem& problem) : Potential(problem, problem.filled<double>(far_away)) {}
  /// D^2 of each row as it is.
  Potential(const KMeansProblem& problem, const std::vector<double>& squared);

  /// D^2 = min(D^2, squared distance to the nearest of these centres). `nearest`: see lower_potential().
  void lower(HostView<const double> centers, PerRow<std::int32_t> nearest = {}, std::int32_t first_number = 0) {
    lower(centers, {}, nearest, first_number);
  }
  /// Lowers distances by these rows as centres; they do not leave the device if takes_rows().
  void lower(std::span<const index_t> rows, PerRow<std::int32_t> nearest = {}, std::int32_t first_number = 0);
  [[nodiscard]] bool takes_rows() const {
    return problem_.source.space() == Space::device && problem_.source.in_memory() && !problem_.distributed();
  }
  /// sum_i w_i D_i^2, in units of its own.
  [[nodiscard]] double total() const noexcept { return total_; }
  /// D^2 of these rows.
  [[nodiscard]] std::vector<double> squared(std::span<const index_t> numbers) const;
  /// choose_rows() of dense rows in memory, all of which are here. Afterwards there is nothing to keep.
  [[nodiscard]] std::vector<index_t> choose(const Choosing& how);
  /// The rows, in order, that keep_rows() keeps, with probability factor w D^2, or factor w.
  [[nodiscard]] std::vector<index_t> keep(double factor, const Philox& random) const {
    return keep(squared_.view(), factor, random);
  }
  [[nodiscard]] std::vector<index_t> keep_evenly(double factor, const Philox& random) const {
    return keep({nullptr, problem_.rows(), problem_.source.space()}, factor, random);
  }

 private:
  Potential(const KMeansProblem& problem, PerRowArray<double> squared);
  void lower(HostView<const double> centers, std::span<const index_t> rows, PerRow<std::int32_t> nearest,
             std::int32_t first_number);
  [[nodiscard]] std::vector<index_t> keep(PerRow<const double> squared, double factor, const Philox& random) const;
  [[nodiscard]] PerRow<const double> weights() const { return problem_.weights_of(0, problem_.rows()); }

  const KMeansProblem& problem_;
  PerRowArray<double> squared_;
  index_t first_chunk_;               ///< here
  std::vector<double> chunk_totals_;  ///< of all rows
  double total_ = 0;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
