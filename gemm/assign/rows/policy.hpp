// What specialises the kernels of rows/kernels, and their arguments.
#pragma once

#include "tallskinny/gemm/assign/rows/arguments.hpp"

namespace ts::inline v0::cuda {

struct UnitRowsArguments {
  RowsArgument x;
  int d;
  double least_norm;  ///< below which a row has no direction
  double *unit, *scales;
};

/// rows/kernels/unit_rows.cuh
struct UnitRowsPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/rows/policy.hpp";
  static constexpr char name[] = "ts::cuda::UnitRowsPolicy";
  using Arguments = UnitRowsArguments;

  DType type = DType::float64;

  static constexpr int threads = 256, blocks_at_once = 2;

  static constexpr void members(auto& p, auto each) { each("type", p.type); }
  friend bool operator==(const UnitRowsPolicy&, const UnitRowsPolicy&) = default;
};

struct ResetLabelsArguments {
  index_t count;
  const index_t* rows;
  int* labels;
  word64* changed;
};

/// rows/kernels/reset_labels.cuh
struct ResetLabelsPolicy {
  static constexpr char header[] = "tallskinny/gemm/assign/rows/policy.hpp";
  static constexpr char name[] = "ts::cuda::ResetLabelsPolicy";
  using Arguments = ResetLabelsArguments;

  static constexpr DType type = DType::float64;
  static constexpr int threads = 256, blocks_at_once = 2;

  static constexpr void members(auto&, auto) {}
  friend bool operator==(const ResetLabelsPolicy&, const ResetLabelsPolicy&) = default;
};

}  // namespace ts::inline v0::cuda
