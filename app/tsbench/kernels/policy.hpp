// Policies that specialise the kernels of this folder, and their arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::bench {

using uint64 = unsigned long long;

/// Lines of `length` consecutive elements, `ld` apart.
struct FillArguments {
  void* a;
  index_t lines, length, ld;
  uint64 seed, line_step, step;
};
/// Lines of `length` words of 32 bits.
struct HashArguments {
  const void* a;
  index_t lines, length, ld;
  void* sum;
};
struct InnerArguments {
  const void* a;
  index_t a_row, a_column;
  const void* b;
  index_t b_row, b_column, n;
  const void* entries;  ///< pairs of 64-bit numbers
  int count;
  void* partial;
};
/// bench_fill, bench_hash and bench_inner.
struct BenchPolicy {
  template <class A>
  using Arguments = A;  // each kernel has its own

  DType type = DType::float64;

  static constexpr int threads = 256, blocks_at_once = 4;

  TS_POLICY_OF(BenchPolicy, "tallskinny/app/tsbench/kernels/policy.hpp", "ts::bench::BenchPolicy", type);
};

}  // namespace ts::bench
