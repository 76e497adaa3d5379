// What specialises random/kernels/random_fill.cuh, and its arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

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
  static constexpr char header[] = "tallskinny/gemm/random/policy.hpp";
  static constexpr char name[] = "ts::cuda::RandomFillPolicy";
  using Arguments = RandomFillArguments;

  DType type = DType::float64;  ///< or float32, for the same numbers rounded
  int vector = 1;               ///< numbers written at once, a divisor of width
  int alignment = 8;            ///< of these, in bytes

  static constexpr int threads = 256, blocks_at_once = 4;  ///< of a multiprocessor

  static constexpr void members(auto& p, auto each) {
    each("type", p.type), each("vector", p.vector), each("alignment", p.alignment);
  }
  friend bool operator==(const RandomFillPolicy&, const RandomFillPolicy&) = default;
};

}  // namespace ts::inline v0::cuda
