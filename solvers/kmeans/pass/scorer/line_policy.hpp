// What specialises the kernel for rows of one column, and its arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"

namespace ts::inline v0::cuda {

struct LineArguments {
  RowsArgument x;
  const double* values;   ///< of centroids in ascending order, without copies
  const int* numbers;     ///< of these centroids
  int count;              ///< of these
  double shrink, factor;  ///< as in CentroidsArgument
  int* labels;
  SumsArgument sums;
  PassCounts* counts;
};

/// scorer/kernels/assign_line.cuh
struct LinePolicy {
  DType type = DType::float64;

  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY(LinePolicy, LineArguments, "solvers/kmeans/pass/scorer/line_policy.hpp", type);
};

}  // namespace ts::inline v0::cuda
