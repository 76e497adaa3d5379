// What specialises the kernels before and after scores, and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/arguments.hpp"

namespace ts::inline v0::cuda {

struct GatherArguments {
  index_t count;
  const unsigned* undecided;
  index_t* list;
  word64* listed;
};

/// scorer/kernels/assign_gather.cuh
struct GatherPolicy {
  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(GatherPolicy, GatherArguments, "solvers/kmeans/pass/scorer/prepare_policy.hpp");
};

struct PrepareArguments {
  const double *centroids, *first;  ///< the first column of all, side by side
  int count, padded;
  const double* shift;
  double scale, shrink, origin;
  double* columns;
  float *half_norms, *origins, *plain_origins;
  void *negated, *confirming;
  unsigned short* plain;  ///< padded x 16 steps, by rows, for a library; or null
  Largest* largest;
};

/// scorer/kernels/assign_prepare.cuh, a warp a centroid
struct PreparePolicy {
  int d = 1;      ///< columns
  int steps = 0;  ///< of 16 columns; 0 for scores in float32 or none
  int chunk = 0;  ///< centroids of a chunk, 0 for fragments

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(PreparePolicy, PrepareArguments, "solvers/kmeans/pass/scorer/prepare_policy.hpp", d, steps, chunk);
};

}  // namespace ts::inline v0::cuda
