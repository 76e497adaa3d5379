// What an operation is going to do and why: a pure function of problem and processor.
#pragma once

#include <iosfwd>
#include <string>

#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/plan/processor_info.hpp"

namespace ts::inline v0 {

/// What limits an operation: moving its bytes, its arithmetic, or starting it.
enum class Bound { memory, arithmetic, launch };
[[nodiscard]] std::string_view name_of(Bound) noexcept;

/// Decisions and prediction. The fast path takes its decisions from here, so that what is printed is what
/// runs.
struct Plan {
  Problem problem;
  std::string_view kernel;  ///< the inner loop that runs
  Simd simd = Simd::sse2;
  int threads = 1;
  int lanes = 1;      ///< elements (of the type computed in) in a vector register
  int fold = 1;       ///< rows that share a vector register, for widths narrower than it
  int tile_rows = 1;  ///< register tile of the small product: rows x columns, columns in whole vectors
  int tile_cols = 1;
  index_t chunk_rows = 0;  ///< rows per unit of work; for reductions fixed by the shape alone
  index_t chunks = 0;
  bool streaming_stores = false;  ///< write past the caches

  Cost cost;
  double tile_utilisation = 1;  ///< useful share of the last tiles' arithmetic (tile quantisation)
  double wave_utilisation = 1;  ///< share of the threads busy while the last chunks run (wave quantisation)
  double memory_seconds = 0, arithmetic_seconds = 0, launch_seconds = 0;
  double seconds = 0;  ///< predicted: the larger of memory and arithmetic, plus launch
  Bound bound = Bound::launch;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// What a caller wants decided otherwise: the members of Context of the same names. A wish that the processor
/// cannot meet is an error.
struct PlanOverrides {
  Simd simd = Simd::best;
  int threads = 0;  ///< 0: the processor's
};

/// @throws Error(invalid_argument) for sizes that make no sense and overrides that cannot be met.
[[nodiscard]] Plan make_plan(const Problem&, const ProcessorInfo&, const PlanOverrides& = {});

/// One line: the decisions.
std::ostream& operator<<(std::ostream&, const Plan&);
/// Some lines: what would be done and why, for people.
[[nodiscard]] std::string explain(const Plan&, const ProcessorInfo&);

}  // namespace ts::inline v0
