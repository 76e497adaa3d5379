// How long a run will still take, from how what ends it has fallen so far. Pure: all times come from the caller.
#pragma once

#include <optional>
#include <span>

namespace ts::app {

/// An iteration of k-means. What ends the run when it has fallen to 1: multiples of the bounds.
struct IterationSeen {
  double number = 1;   ///< from 1 on
  double seconds = 0;  ///< that it took
  double shift = 0;    ///< of the squared distance that centres moved; 0: that ends nothing
  double changed = 0;  ///< of the labels that changed
};

/// Seconds until the run ends, at the latest after iteration `most`. Both multiples, and the time of an iteration, are
/// taken to fall like a power of the number of the iteration at first, and geometrically later. Nothing before five
/// iterations were seen: the first ones tell little.
[[nodiscard]] std::optional<double> seconds_left(std::span<const IterationSeen> seen, double most);

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
