// Squared distances of all rows to the nearest of a growing set of centres, and draws in proportion to them.
// Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::solvers::kmeans_detail {

/// S: float or double, in which distances are computed and kept; 8 or 4 bytes for each row. Sums belong to
/// fixed chunks of rows and are added in order: bits do not depend on the number of threads.
template <class S>
class Potential {
 public:
  explicit Potential(const Problem& problem);

  /// D^2 = min(D^2, squared distance to the nearest of these centres).
  void lower(HostView<const double> centers);
  /// What the total would be after lower() of each single candidate.
  [[nodiscard]] std::vector<double> totals_with(HostView<const double> candidates) const;
  /// sum_i w_i D_i^2, in units of its own.
  [[nodiscard]] double total() const noexcept { return total_; }
  /// A row drawn with probability w D^2 / total from a uniform number in [0, 1). Never one with w D^2 = 0
  /// unless all are.
  [[nodiscard]] index_t draw(double uniform) const;
  [[nodiscard]] double value(index_t i) const {
    return problem_.weight(i) * static_cast<double>(squared_[static_cast<std::size_t>(i)]);
  }

 private:
  template <class Use>
  void for_blocks(HostView<const double> centers, Use&& use) const;
  void sum_up();
  /// Small problems stay on one thread.
  [[nodiscard]] int team() const noexcept;

  const Problem& problem_;
  double scale_ = 1;
  std::vector<S> squared_;
  std::vector<double> chunk_totals_;
  double total_ = 0;
};

extern template class Potential<float>;
extern template class Potential<double>;

}  // namespace ts::solvers::kmeans_detail
