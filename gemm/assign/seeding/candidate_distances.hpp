// Squared distances of rows in host memory to candidates for centres, for seeding. Internal to the room.
#pragma once

#include "tallskinny/gemm/assign/scores/centroids.hpp"
#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::inline v0::assign_detail {

/// In the coordinates of the unit; exactly 0 for a row equal to the candidate. S: float or double. Bits
/// depend on neither threads nor instruction set.
template <class S>
class CandidateDistances {
 public:
  CandidateDistances(const Context& ctx, const Rows& x, const SeedingUnit& unit, HostView<const double> candidates);

  /// What a thread needs for itself.
  struct Scratch {
    Matrix<S> found;  ///< distance of the r-th row of a piece to candidate q at (q, r)
    Matrix<S> tile;
    std::vector<double> row;
    std::vector<index_t> numbers;
    std::vector<S> norms, distances;
  };
  [[nodiscard]] Scratch scratch() const;
  /// scratch.found for the rows first .. first + count - 1, at most chunk_rows, and all candidates.
  void to_all(index_t first, index_t count, Scratch& scratch) const;
  /// scratch.found(0, r) for each row and the candidate of its label alone; infinite without one.
  void to_labels(index_t first, index_t count, const std::int32_t* labels, Scratch& scratch) const;

 private:
  void sparse_to(index_t i, index_t q, S& distance, Scratch& scratch) const;

  const assign_cpu::AssignKernels& kernels_;
  const Rows& x_;
  double scale_;
  PackedShift<S> shift_;
  Matrix<double> scaled_;      ///< (c - shift) scale
  Matrix<S> rounded_;          ///< the same in S
  std::vector<double> norms_;  ///< of scaled_, for sparse rows
};

extern template class CandidateDistances<float>;
extern template class CandidateDistances<double>;

}  // namespace ts::inline v0::assign_detail
