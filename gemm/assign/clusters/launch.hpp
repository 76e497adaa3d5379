// The clusters of a run in device memory. The arguments were checked, but for shapes.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "tallskinny/gemm/assign/exact/distances.hpp"
#include "tallskinny/gemm/assign/scores/heads.hpp"
#include "tallskinny/gemm/assign/scores/launch.hpp"
#include "tallskinny/gemm/assign/scores/tile_bounds.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0::assign_device {

using cuda::ClusterNews;

/// Clusters on a device, whose context must outlive this.
class DeviceClusters {
 public:
  DeviceClusters(const Context& ctx, const ColumnMoments& moments, const FixedPoint& unit,
                 HostView<const double> centroids);

  [[nodiscard]] Matrix<double> centroids() const;
  [[nodiscard]] ClusterSums sums() const;
  void collect();
  /// @param bounded the rows are those of every such pass before, with labels as these left them.
  AssignStats assign(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                     bool move_sums, bool settled, bool bounded);
  [[nodiscard]] HeadsForm heads_form(const Rows& x, index_t passes) const;
  /// Passes over these rows, all of which get labels by the first of them, may choose centroids by heads.
  void use_heads(const Rows& x, DeviceView<const double> axes, HeadNumbers numbers);
  [[nodiscard]] bool tile_bounds_may_pay(const Rows& x) const;
  /// They may choose them by bounds of tiles instead, where that takes less time in so many passes, or always.
  void use_tile_bounds(const Rows& x, index_t passes, bool always);
  /// One pass of every kind, for a Context that rehearses.
  void rehearse(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                index_t passes_with_heads);
  void add_rows(const Rows& x, PerRow<const std::int32_t> labels, PerRow<const double> weights);
  /// Returns the squared shift; centroids stay where `weightless` gets any number.
  double move_to_means(std::vector<index_t>& weightless);
  [[nodiscard]] std::vector<FarRow> farthest_rows(const Rows& x, PerRow<const std::int32_t> labels,
                                                  index_t count) const;
  [[nodiscard]] std::vector<index_t> counts() const;
  void move_rows(HostView<const double> rows, std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                 std::span<const double> weights);
  void place(HostView<const double> centroids);
  [[nodiscard]] Twofold inertia_terms();

 private:
  enum class Step { measure, move };

  /// Of the rows of all ranks.
  [[nodiscard]] std::uint64_t* all_sums() const noexcept { return (of_ranks_.cols() > 0 ? of_ranks_ : sums_).data(); }
  [[nodiscard]] double* current() const noexcept { return placed_[turn_].data(); }
  [[nodiscard]] double* other() const noexcept { return placed_[1 - turn_].data(); }
  /// Sets news_, of current centroids or of the means, which are put into other().
  void run(Step step, double scale);
  /// What passes need to know of current centroids, from news_.
  void take_spread();
  /// What chooses centroids in a pass over these rows, or nothing.
  [[nodiscard]] Chooser* chooser(const Rows& x, Probe& probe);
  [[nodiscard]] cuda::AssignProblem problem_of(const Rows& x) const;
  /// After a pass over every row.
  void judge(const Chooser* chooser, const Probe& probe, index_t kept, double seconds);
  [[nodiscard]] PlacedCentroids placed(bool with_sums) const noexcept;
  /// Of all centroids, from the squares of theirs.
  [[nodiscard]] Steps steps(double ClusterNews::*squared) const;

  const Context& ctx_;
  const ColumnMoments& moments_;
  FixedPoint unit_;
  index_t k_, d_;
  double scale_of_rows_;
  std::array<DeviceMatrix<double>, 2> placed_;  ///< k x d centroids, and the first column of all
  DeviceMatrix<double> of_columns_;             ///< shift, to_units, from_units
  DeviceMatrix<std::uint64_t> sums_;            ///< as ClusterSums::add_words has them
  DeviceMatrix<std::uint64_t> of_ranks_;        ///< the same of the rows of several ranks
  DeviceMatrix<double> told_;
  std::size_t turn_ = 0;
  std::vector<ClusterNews> news_;
  bool stale_ = false;  ///< sums have changed since news_
  Spread spread_;
  std::optional<Heads> heads_;
  std::optional<TileBounds> tile_bounds_;
  index_t changed_ = std::numeric_limits<index_t>::max();                   ///< labels, by the last pass
  double seconds_without_heads_ = std::numeric_limits<double>::infinity();  ///< of a pass over all rows and centroids
  std::optional<ActiveSet> active_;
  DeviceMatrix<double> before_;  ///< k x d: where centroids were in the last pass with a margin
  double mean_step_ = 0;         ///< of its centroids
  Steps last_;                   ///< of the last move
  double drift_ = 0;             ///< from before_: two centroids together, at most
};

}  // namespace ts::inline v0::assign_device
