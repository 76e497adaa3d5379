// When passes on a device choose centroids by bounds of tiles (tile_bounds.hpp).
#pragma once

#include <algorithm>
#include <utility>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::assign_device {

/// Milliseconds of passes, as far as these decide them; of scores, of all pairs of a row and a centroid.
struct ChoosingCosts {
  double all = 0;        ///< a pass over all centroids
  double heads = 0;      ///< a choice by heads
  double by_heads = 0;   ///< and scores in lists
  double bounds = 0;     ///< a choice by bounds of tiles
  double by_bounds = 0;  ///< and scores in lists, which leave bounds
  [[nodiscard]] double with_heads(double share) const noexcept { return heads + share * by_heads; }
  [[nodiscard]] double with_bounds(double share) const noexcept { return bounds + share * by_bounds; }
};

/// Decides by counts alone, so that runs repeat: by shares of all pairs that were scored, or would have been. A probe
/// tells what bounds would leave. Where that does not pay, there is another one when half as many labels change, then
/// an eighth, and so on.
class BoundsTrials {
 public:
  /// @param passes to come, at most.
  BoundsTrials(const ChoosingCosts& costs, index_t passes) : costs_(costs), left_(passes) {}
  /// Bounds always, after a probe.
  [[nodiscard]] static BoundsTrials always() noexcept {
    BoundsTrials trials({}, 0);
    trials.always_ = true;
    return trials;
  }

  enum class Turn { without, probe, make, use };
  /// What the next pass does, after one that changed such a share of the labels.
  [[nodiscard]] Turn next(double changed) noexcept {
    --left_, changed_ = changed;
    if (known_) return Turn::use;
    if (std::exchange(pays_, always_)) return Turn::make;
    if (always_) return Turn::probe;
    const double most = std::min(most_changed_, has_heads() ? most_changed_with_heads : most_changed_without);
    return changed <= most && left_ >= least_left ? Turn::probe : Turn::without;
  }
  /// A pass has left a share by heads, or, where it is negative, was one over all centroids.
  void passed_without(double share) noexcept {
    known_ = false, share_ = share;
    usual_ = share < 0 ? costs_.all : costs_.with_heads(share);
  }
  /// After that, what bounds would have left.
  void probed(double share) noexcept {
    // Heads leave about three times as much with a margin, in the pass that makes bounds, and the next few leave more
    // than a probe says.
    const double first =
        share_ < 0 ? costs_.with_bounds(1) : costs_.heads + costs_.with_bounds(std::min(1.0, 3 * share_));
    const double gain = (usual_ - costs_.with_bounds(share)) * (share_ < 0 ? 1 : 0.5);
    pays_ = always_ || gain * static_cast<double>(left_ - 1) > std::max(0.0, first - usual_);
    if (!pays_) fail();
  }
  void made() noexcept { known_ = true, dear_ = 0; }
  void used(double share) noexcept {
    const double cost = costs_.with_bounds(share);
    dear_ = cost <= usual_ ? 0 : dear_ + 1;
    known_ = always_ || (dear_ < most_dear && cost <= dearest * usual_);
    if (!known_) fail();
  }
  /// Some pass had other rows.
  void forget() noexcept { known_ = false, pays_ = always_ && pays_; }
  [[nodiscard]] bool known() const noexcept { return known_; }

 private:
  static constexpr double most_changed_with_heads = 0.08, most_changed_without = 0.15;
  static constexpr index_t least_left = 6;
  static constexpr int most_dear = 3;     // passes, one after another, that cost more than those without
  static constexpr double dearest = 1.6;  // of their cost, at once

  [[nodiscard]] bool has_heads() const noexcept { return costs_.by_heads > 0; }
  void fail() noexcept { most_changed_ = changed_ / factor_, factor_ *= 4; }

  ChoosingCosts costs_;
  index_t left_;
  double most_changed_ = 1, changed_ = 1, factor_ = 2;
  double usual_ = 0, share_ = -1;
  int dear_ = 0;
  bool always_ = false, known_ = false, pays_ = false;
};

}  // namespace ts::inline v0::assign_device
