// What specialises random/kernels/random_fill.cuh, and its arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

/// `lines` lines of `width` real numbers, `ld` apart; stream and key as in core/philox.hpp.
struct RandomFillArguments {
  void* x;
  index_t lines;
  int width;
  index_t ld;
  index_t first_line;  ///< what the first one counts as
  unsigned long long stream, key;
};

struct RandomFillPolicy {
  DType type = DType::float64;  ///< or float32, for the same numbers rounded
  int vector = 1;               ///< numbers written at once, a divisor of width
  int alignment = 8;            ///< of these, in bytes

  static constexpr int threads = 256, blocks_at_once = 4;  ///< of a multiprocessor

  TS_POLICY(RandomFillPolicy, RandomFillArguments, "gemm/random/policy.hpp", type, vector, alignment);
};

}  // namespace ts::inline v0::cuda
