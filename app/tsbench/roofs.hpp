// What the machine itself can do: the roofs that every measured operation is judged against.
#pragma once

#include <cstddef>
#include <span>

namespace ts::bench {

struct Roofs {
  double read_bytes_per_second = 0;
  double copy_bytes_per_second = 0;  ///< bytes read plus bytes written
  double float64_flops = 0;          ///< fused multiply-adds in registers, each counts 2
  double float32_flops = 0;
};

/// Measures once with `threads` threads on memory that is far larger than the caches (`source` and `target`
/// are of equal size and aligned to 64 bytes) and raises what is in `best` where it did better. Several ways
/// are tried: plain loads, prefetched ones, two streams; plain and non-temporal stores. Called in turns with
/// what is measured, so that a noisy machine hits both alike.
void measure_roofs(std::span<const double> source, std::span<double> target, int threads, Roofs& best);

}  // namespace ts::bench
