// Roofs of the processor, which measured operations are judged against.
#pragma once

#include <cstddef>
#include <span>

#include "tallskinny/gemm/runtime/profile.hpp"

namespace ts::app {

/// Measures once with `threads` threads on memory far larger than the caches, and raises rates in `best` that it
/// exceeds. `source` and `target` are of equal size and aligned to 64 bytes. Tries plain loads, prefetched ones, two
/// streams; plain and non-temporal stores. Call in turns with the measured operation, so that a noisy machine affects
/// both alike.
void measure_roofs(std::span<const double> source, std::span<double> target, int threads, Roofs& best);

/// Measures on memory of its own, and returns the best of two rounds.
[[nodiscard]] Roofs measured_roofs(int threads);

}  // namespace ts::app
