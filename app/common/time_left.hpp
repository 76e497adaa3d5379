// How long a run will still take, from how what ends it has fallen so far. Pure: all times come from the caller.
#pragma once

#include <optional>
#include <span>

namespace ts::app {

/// An iteration of k-means.
struct IterationSeen {
  double number = 1;   ///< from 1 on
  double seconds = 0;  ///< that it took
  double shift = 0;    ///< squared distance that centres moved as a multiple of what ends the run; 0: that ends nothing
  double changed = 0;  ///< labels
};

/// What is clustered, and how that ends.
struct Clustering {
  double rows = 1, columns = 1, clusters = 1;
  double most = 300;          ///< iterations
  double enough_changed = 0;  ///< labels
  double passes_after = 1;    ///< over all rows, after the last iteration
};

/// Seconds until the run ends. Nothing before eight iterations were seen, unless as many are left at most. How many
/// will come is told by how many labels change, how far centres move, and the sizes: of runs that the law was not
/// fitted to seven of ten take between half and twice as long as is said when a tenth is done.
[[nodiscard]] std::optional<double> seconds_left(std::span<const IterationSeen> seen, const Clustering& what);

/// A look at the residuals of an eigensolver.
struct ResidualsSeen {
  double at = 0;        ///< seconds
  double steps = 0;     ///< done by then
  double fraction = 0;  ///< of the decades above the tolerance, how many all residuals have fallen
  double worst = 0;     ///< largest residual as a multiple of its tolerance
};

/// Seconds until all residuals meet their tolerances, at the latest after `most` steps (0: any number). Both figures
/// are taken to go on as in the later half of the time: while few residuals fall the fraction tells more, in the end
/// the worst. Nothing before four looks, and while neither moves.
[[nodiscard]] std::optional<double> seconds_left(std::span<const ResidualsSeen> seen, double most);

/// Of a run of parts, of which this one has `left` seconds to go: what all take that are ahead.
/// @param elapsed since the first of them began
/// @param begun, ahead sizes of the parts that were begun, and of the others
[[nodiscard]] constexpr double with_parts_ahead(double left, double elapsed, double begun, double ahead) noexcept {
  return left + (elapsed + left) * ahead / begun;
}

}  // namespace ts::app
