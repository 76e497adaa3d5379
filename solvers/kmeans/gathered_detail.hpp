// Some rows of a problem in host memory. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Some rows of a problem, copied to the host memory of all ranks in float64; sparse rows stay sparse.
class Gathered {
 public:
  /// `numbers` among all rows, in ascending order, with repetitions if any. One pass over all rows.
  Gathered(const KMeansProblem& problem, std::span<const index_t> numbers);
  [[nodiscard]] Rows rows() const { return sparse_ ? Rows(csr_.view()) : Rows(dense_.cview()); }
  /// Nothing where the problem has no weights.
  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }

 private:
  void gather_entries(const KMeansProblem& problem);

  bool sparse_ = false;
  Matrix<double> dense_;
  CsrMatrix<double> csr_;
  std::vector<double> weights_;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
