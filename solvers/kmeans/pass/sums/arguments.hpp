// Arguments of kernels that sum by cluster, and their results for each cluster. Read by the run-time compiler, too.
#pragma once

#include "tallskinny/solvers/kmeans/pass/rows/arguments.hpp"

namespace ts::inline v0::cuda {

/// The rows that leave one sum for another once all labels are known (sums_sort.cuh), in any order.
struct MovesArgument {
  int *rows = nullptr,    ///< of each move. Null: every row, from nowhere
      *before = nullptr;  ///< by rows, the label that it had, negative for none
  word64* count = nullptr;
};

/// Sums by cluster in fixed point (cluster_sums.hpp), of what this pass changes.
struct SumsArgument {
  word64 *upper = nullptr, *lower = nullptr;  ///< k x d; null: no sums
  word64 *weight_upper = nullptr, *weight_lower = nullptr, *counts = nullptr;
  const double *to_units = nullptr, *shift = nullptr;  ///< of each column
  const double* weights = nullptr;                     ///< of each row, or none
  double one = 0, weight_to_units = 0;
  MovesArgument moves;
};

/// Sums of k clusters, d columns each.
struct FixedSumsArgument {
  const word64 *upper, *lower, *weight_upper, *weight_lower;
  const double *from_units, *shift;  ///< of each column
  double inverse;                    ///< 2^-bits
};

/// Results of assign_means.cuh for each cluster.
struct ClusterUpdate {
  double weight;                     ///< 0 if and only if the cluster is weightless
  double squared_step;               ///< ||new c - c||^2
  double inertia_high, inertia_low;  ///< assign_cpu::AssignKernels::inertia_term
  double max_abs;                    ///< max_j |c_j - shift_j|
  double squared;                    ///< ||(c - shift) scale||^2
};

}  // namespace ts::inline v0::cuda
