// Squared distances of all rows to the nearest of a growing set of centres, and draws in proportion to them.
// Internal to the room.
#pragma once

#include <optional>

#include "tallskinny/gemm/assign/seeding/potential.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// S: float or double, in which distances are computed and kept, where the rows are; 8 or 4 bytes for each
/// row. Sums belong to fixed chunks of rows and are added in order: bits do not depend on the number of threads or
/// ranks. With several ranks all of them make all calls, and row numbers are those of all rows.
template <class S>
class Potential {
 public:
  explicit Potential(const KMeansProblem& problem);
  /// D^2 of each row as it is.
  Potential(const KMeansProblem& problem, const std::vector<S>& squared);

  /// D^2 = min(D^2, squared distance to the nearest of these centres). `nearest`: see lower_potential().
  void lower(HostView<const double> centers, PerRow<std::int32_t> nearest = {}, std::int32_t first_number = 0);
  /// The same by these rows, which do not leave the device if takes_rows().
  void lower(std::span<const index_t> rows, PerRow<std::int32_t> nearest = {}, std::int32_t first_number = 0);
  [[nodiscard]] bool takes_rows() const {
    return problem_.source.space() == Space::device && problem_.source.in_memory() && !problem_.distributed() &&
           problem_.scale.empty();
  }
  /// What the total would be after lower() of each single candidate.
  [[nodiscard]] std::vector<double> totals_with(HostView<const double> candidates) const;
  /// sum_i w_i D_i^2, in units of its own.
  [[nodiscard]] double total() const noexcept { return total_; }
  /// Rows drawn with probability w D^2 / total, one for each uniform number in [0, 1). Never one with w D^2 =
  /// 0 unless all are.
  [[nodiscard]] std::vector<index_t> draw(std::span<const double> uniforms) const;
  /// D^2 of these rows.
  [[nodiscard]] std::vector<S> squared(std::span<const index_t> numbers) const;
  /// choose_rows(), if it serves rows that lie there in memory: none if not. Afterwards there are no draws.
  [[nodiscard]] std::optional<std::vector<index_t>> choose(const Choosing& how);
  /// The rows, in order, that keep_rows() keeps.
  [[nodiscard]] std::vector<index_t> keep(double factor, const Philox& random) const;
  /// Each with probability factor w.
  [[nodiscard]] std::vector<index_t> keep_evenly(double factor, const Philox& random) const;

 private:
  Potential(const KMeansProblem& problem, PerRowArray<S> squared);
  void lower(HostView<const double> centers, std::span<const index_t> rows, PerRow<std::int32_t> nearest,
             std::int32_t first_number);
  /// The coordinates of distances.
  [[nodiscard]] SeedingUnit unit() const { return {problem_.moments, scale_}; }
  [[nodiscard]] std::vector<S> squared_here(std::span<const index_t> numbers) const;
  /// Of `width` values for each chunk of all rows those here are there: gets all of them.
  void gather_chunks(double* values, index_t width) const;
  [[nodiscard]] PerRow<const double> weights() const { return problem_.weights_of(0, problem_.rows()); }

  const KMeansProblem& problem_;
  double scale_ = 1;
  PerRowArray<S> squared_;
  PerRowArray<std::int32_t> labels_;  ///< room for lower() on a device, once that needs it
  index_t first_chunk_;               ///< here
  std::vector<double> chunk_totals_;  ///< of all rows
  double total_ = 0;
};

extern template class Potential<float>;
extern template class Potential<double>;

}  // namespace ts::inline v0::solvers::kmeans_detail
