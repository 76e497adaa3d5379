// What specialises copy/kernels/copy_rows.cuh, and its arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// `rows` rows of `width` real numbers, to_ld and from_ld apart.
struct CopyRowsArguments {
  void* to;
  index_t to_ld;
  const void* from;
  index_t from_ld, rows, width;
  const int* list;  ///< where a policy has one: the rows of `from`, or of `to`, that are meant
};

struct CopyRowsPolicy {
  DType type = DType::float64;  ///< of `to`: float64 or float32
  DType from = DType::float64;  ///< likewise
  int vector = 1;               ///< numbers moved at once, a divisor of width
  int alignment = 8, from_alignment = 8;
  bool gathers = false, scatters = false;  ///< row i is list[i] of `from`; of `to`

  static constexpr int threads = 256;

  TS_POLICY(CopyRowsPolicy, CopyRowsArguments, "gemm/copy/policy.hpp", type, from, vector, alignment, from_alignment,
            gathers, scatters);
};

}  // namespace ts::inline v0::cuda
