// Checking and timing one case.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/app/common/roofs.hpp"
#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/plan/plan.hpp"

namespace ts::bench {

struct Timing {
  double best = 0, median = 0;  ///< seconds; 0: not measured
};

struct Measured {
  Plan plan;  ///< made with the roofs measured beside it
  Roofs roofs;
  Timing ours, eigen, openblas;
  double worst_error = 0;  ///< relative to the bound: at most 1, or the case is not timed
  bool refused = false;    ///< the result was wrong
  bool changed = false;    ///< another run of the same operation gave other bits

  [[nodiscard]] double bytes_per_second() const { return plan.cost.bytes() / ours.best; }
  /// The time no program on this machine could beat: all bytes at the roof, or all flops at the peak.
  [[nodiscard]] double roof_seconds() const;
  [[nodiscard]] double roof_share() const { return roof_seconds() / ours.best; }
};

struct Effort {
  int threads = 0;
  int repetitions = 5;
  double seconds_per_contestant = 1.5;  ///< a slow peer is not repeated beyond this
  Simd simd = Simd::best;
  Implementation implementation = Implementation::fast;
  bool peers = true;
};

/// Checks the result, then times ours, the roofs and the peers in turns, so that a noisy machine hits all
/// alike.
template <class T>
[[nodiscard]] Measured measure(Pool<T>& pool, const Problem& problem, const Effort& effort);

}  // namespace ts::bench
