// What specialises the kernels that measure what a GPU can do, roof_read.cuh and roof_flops.cuh, and their arguments.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"

namespace ts::inline v0::cuda {

struct RoofReadArguments {
  const char* from;
  index_t chunks;
  int chunk;   ///< bytes
  int stages;  ///< of the ring of bulk copies
  unsigned* sink;
};
struct RoofReadPolicy {
  bool bulk = false;  ///< through shared memory by bulk copies (from sm_90 on), or by loads of 16 bytes

  static constexpr int most_stages = 16;
  [[nodiscard]] constexpr int threads() const { return bulk ? 32 : 256; }
  [[nodiscard]] constexpr int blocks_at_once() const { return bulk ? 1 : 4; }

  TS_POLICY(RoofReadPolicy, RoofReadArguments, "gemm/device/roof_policy.hpp", bulk);
};

/// The units that multiply and add.
enum class RoofUnit { float64, float32, float64_tensor, tf32_tensor, half_tensor };

struct RoofFlopsArguments {
  int rounds;
  float* sink;
};
struct RoofFlopsPolicy {
  RoofUnit unit = RoofUnit::float64;
  int chains = 8;  ///< of a warp, each independent of the others

  static constexpr int threads = 256, blocks_at_once = 2;

  TS_POLICY(RoofFlopsPolicy, RoofFlopsArguments, "gemm/device/roof_policy.hpp", unit, chains);
};

}  // namespace ts::inline v0::cuda
