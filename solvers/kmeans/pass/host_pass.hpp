// Passes over rows in host memory. Internal to the room.
#pragma once

#include <numeric>
#include <optional>
#include <vector>

#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"

namespace ts::inline v0::assign_detail {

/// How bounds move in this pass; nothing unless they hold.
assign_cpu::CentroidSteps steps_of(BoundsOfRows bounds);

/// What a pass is given for its rows.
struct Pass {
  std::span<std::int32_t> labels;
  std::span<const double> weights;
  const FixedPoint* unit = nullptr;
  BoundsOfRows bounds;
  assign_cpu::CentroidSteps steps;  ///< while bounds hold
  bool proven = true;               ///< rows whose scores are too close are decided again

  explicit Pass(const AssignArguments& of)
      : labels(of.labels.span()),
        weights(of.weights.span()),
        unit(of.unit),
        bounds(of.bounds),
        steps(steps_of(of.bounds)),
        proven(of.scores != Scores::fast) {}

  /// What leaves rows alone.
  [[nodiscard]] PassFilter filter() const noexcept {
    return bounds.all != nullptr && bounds.all->hold() ? PassFilter::rows : PassFilter::none;
  }
};

/// What all threads counted, by such a filter and scorer.
template <class Scratch>
AssignStats stats_of(const std::vector<Scratch>& scratch, std::string_view scorer = {},
                     PassFilter filter = PassFilter::none) {
  AssignStats stats;
  for (const Scratch& s : scratch) stats += s.stats;
  stats.filter = filter, stats.scorer = scorer;
  return stats;
}

// The arguments were checked. S: double for Scores::float64, float for all others.
template <class S>
AssignStats assign_dense(const Context& ctx, const AssignArguments& of);
/// For Scores::int8, every row against every centroid in 8 bits first; nothing where that would not pay.
std::optional<AssignStats> assign_bytes(const Context& ctx, const AssignArguments& of);
/// Dense rows of one column, without bounds.
AssignStats assign_line(const Context& ctx, const AssignArguments& of);
template <class S>
AssignStats assign_sparse(const Context& ctx, const AssignArguments& of);
/// Every row against every centroid in long double: slow, plain, and what the others are tested against.
AssignStats assign_reference(const AssignArguments& of);

}  // namespace ts::inline v0::assign_detail
