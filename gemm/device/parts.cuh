// The parts of a sum over rows: consecutive runs of rows, each added up by blocks of its own and left in
// float64. sum_parts.cuh makes the result of them, when those of other slabs or ranks have come too.
#pragma once

#include "tallskinny/gemm/device/arguments.hpp"
#include "tallskinny/gemm/device/element.cuh"

using ts::cuda::PartsArgument;

constexpr bool in_parts = policy.parts;  ///< else the whole grid works on all rows

/// Which part this block works on, as one of how many blocks. Worked out anew each time it is asked for, so
/// that no registers hold it meanwhile.
struct PartOfGrid {
  int number, block, blocks;
  __device__ __forceinline__ explicit PartOfGrid([[maybe_unused]] const PartsArgument& parts) {
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    number = 0, blocks = static_cast<int>(gridDim.x);
    if constexpr (in_parts) {
      blocks /= static_cast<int>(parts.here);
      number = block / blocks, block %= blocks;
    }
  }
  /// Of all rows, those of this part.
  __device__ __forceinline__ int64 rows(const PartsArgument& parts, int64 all) const {
    const int64 left = all - number * parts.rows;
    return left < parts.rows ? left : parts.rows;
  }
};
