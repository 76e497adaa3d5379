// What the planner knows about a processor: a plain value, so that plans for any machine can be made and
// tested anywhere.
#pragma once

#include <compare>
#include <string>

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

/// What plans know of a processor: bytes and bytes or operations a second.
struct ProcessorInfo {
  std::string name = "cpu";
  int threads = 1;
  Simd simd = Simd::sse2;         ///< the widest level it has; never `best`
  std::int64_t l1_bytes = 32768;  ///< data cache per core
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 8 << 20;       ///< shared
  double read_bytes_per_second = 8e9;    ///< all threads, operands far larger than the caches
  double copy_bytes_per_second = 7e9;    ///< bytes read plus bytes written
  double cache_bytes_per_second = 4e10;  ///< all threads, operands within the L2 caches
  double float64_flops = 1e10;           ///< per second, all threads, a fused multiply-add counts 2
  double float32_flops = 2e10;
  double launch_seconds = 5e-6;  ///< to start and join the threads
  friend bool operator==(const ProcessorInfo&, const ProcessorInfo&) = default;
};

/// Lanes of one vector register.
[[nodiscard]] int lanes_of(Simd level, DType computed_in) noexcept;
[[nodiscard]] std::string_view name_of(Simd level) noexcept;

/// The processor of this process: name, vector level and caches as the system states them, in microseconds.
/// Bandwidths and flop rates are conservative assumptions per core; `tsbench` passes measured ones instead.
[[nodiscard]] const ProcessorInfo& this_cpu();

}  // namespace ts::inline v0
