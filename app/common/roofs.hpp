// Roofs of the processor, which measured operations are judged against.
#pragma once

#include <cstddef>
#include <span>

#include "tallskinny/gemm/runtime/profile.hpp"

namespace ts::app {

/// Measures once with `threads` threads on memory that is far larger than the caches (`source` and `target`
/// are of equal size and aligned to 64 bytes) and raises what is in `best` where it did better. Several ways
/// are tried: plain loads, prefetched ones, two streams; plain and non-temporal stores. Called in turns with
/// what is measured, so that a noisy machine hits both alike.
void measure_roofs(std::span<const double> source, std::span<double> target, int threads, Roofs& best);

/// Measures on memory of its own, and returns the best of two rounds.
[[nodiscard]] Roofs measured_roofs(int threads);

}  // namespace ts::app
