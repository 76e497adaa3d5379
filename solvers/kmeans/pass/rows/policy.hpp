// Policies that specialise the kernels of rows/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/arguments.hpp"

namespace ts::inline v0::cuda {

struct UnitRowsArguments {
  RowsArgument x;
  int d;
  double least_norm;  ///< below which a row has no direction
  double *unit, *scales;
};

/// rows/kernels/unit_rows.cuh
struct UnitRowsPolicy {
  DType type = DType::float64;

  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(UnitRowsPolicy, UnitRowsArguments, "solvers/kmeans/pass/rows/policy.hpp", type);
};

struct ResetLabelsArguments {
  index_t count;
  const index_t* rows;
  int* labels;
  word64* changed;
};

/// rows/kernels/reset_labels.cuh
struct ResetLabelsPolicy {
  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(ResetLabelsPolicy, ResetLabelsArguments, "solvers/kmeans/pass/rows/policy.hpp");
};

}  // namespace ts::inline v0::cuda
