// The clusters of a run in device memory. The arguments were checked, but for shapes.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/heads.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/tile_bounds.hpp"
#include "tallskinny/solvers/kmeans/pass/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/distances.hpp"

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
  AssignStats assign(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                     bool move_sums, bool settled, PassFilter filter);
  [[nodiscard]] HeadsForm heads_form(const Rows& x, index_t passes, bool wanted) const;
  /// Passes over these rows, all of which get labels by the first of them, may choose centroids by heads.
  void use_heads(const Rows& x, DeviceView<const double> axes, HeadNumbers numbers);
  [[nodiscard]] bool tile_bounds_may_pay(const Rows& x, bool wanted) const;
  /// They may choose them by bounds of tiles.
  void use_tile_bounds(const Rows& x);
  [[nodiscard]] ChoosingCosts choosing_costs(const Rows& x) const;
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
  /// Returns the chooser of centroids for a pass over these rows, or null.
  [[nodiscard]] Chooser* chooser(const Rows& x, PassFilter filter);
  [[nodiscard]] cuda::AssignProblem problem_of(const Rows& x) const;
  [[nodiscard]] PlacedCentroids placed(bool with_sums) const noexcept;

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
  double mean_step_ = 0;  ///< of centroids in the last move
};

}  // namespace ts::inline v0::assign_device
