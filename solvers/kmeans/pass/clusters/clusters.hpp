// The clusters of a run that takes many passes: centroids and sums of rows stay where the rows are.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/heads_arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/distances.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"

namespace ts::inline v0 {

namespace assign_device {
class DeviceClusters;
}

/// k centroids of d columns with their ClusterSums, in host memory or on the device of ctx.stream (8 (4 k d +
/// ...) bytes there), where a pass then fetches two counters and move_to_means() 56 bytes for each cluster.
/// Labels, centroids, sums and what is told of them have the same bits in both places. With several ranks passes add
/// up the rows here, and collect() those of all. Move-only.
class Clusters {
 public:
  /// Sums are zero at first. @param space where the rows of all passes lie. Context and moments must outlive
  /// this.
  /// @param centroids k x d, finite. @throws Error(invalid_argument), Error(out_of_memory).
  Clusters(const Context& ctx, Space space, const ColumnMoments& moments, const FixedPoint& unit,
           Matrix<double> centroids);
  Clusters(Clusters&&) noexcept;
  Clusters& operator=(Clusters&&) = delete;
  ~Clusters();

  [[nodiscard]] const FixedPoint& unit() const noexcept { return unit_; }
  /// Copies in host memory.
  [[nodiscard]] Matrix<double> centroids() const;
  [[nodiscard]] ClusterSums sums() const;
  /// With several ranks, by all of them after passes that moved sums: sums(), move_to_means() and inertia_terms() are
  /// of the rows of all ranks as they are now.
  void collect();

  enum class Sums { stay, move };
  /// assign() with these centroids; the sums, which must belong to the labels given, move with the labels or
  /// stay. @param filter on a device, projection or tiles, if they are in use
  AssignStats assign(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights, Sums sums,
                     BoundsOfRows bounds = {}, bool settled = false, GroupBoundsOfRows group_bounds = {},
                     PassFilter filter = PassFilter::none);
  /// Returns the form that use_heads() should be given for so many passes over these rows on a device; no columns:
  /// heads do not fit, or, unless they are `wanted`, do not pay there.
  [[nodiscard]] HeadsForm heads_form(const Rows& x, index_t passes, bool wanted = false) const;
  /// Passes over these rows, all of which have labels, may find by their heads along `axes` which centroids may be
  /// nearest (filter/heads.hpp); the results are the same. @param axes d x heads_form().columns,
  /// orthonormal. @param numbers of heads along so many axes: heads_form() tells those that should pay.
  void use_heads(const Rows& x, DeviceView<const double> axes, HeadNumbers numbers = HeadNumbers::float16);
  /// True if use_tile_bounds() has the memory for these rows on a device, and, unless it is `wanted`, may pay.
  [[nodiscard]] bool tile_bounds_may_pay(const Rows& x, bool wanted = false) const;
  /// Passes may find them by bounds of tiles of rows, too (filter/tile_bounds.hpp). Call after use_heads(), if at all.
  void use_tile_bounds(const Rows& x);
  /// Costs of passes over these rows with what is in use.
  [[nodiscard]] ChoosingCosts choosing_costs(const Rows& x) const;
  /// What passes over these rows may start on a device, for a Context that rehearses. Also those that
  /// choose centroids by heads, where there will be so many of them and that pays.
  void rehearse(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                index_t passes_with_heads);
  /// add_rows() to these sums.
  void add_rows(const Rows& x, PerRow<const std::int32_t> labels, PerRow<const double> weights);
  /// bounds.begin_pass() for these centroids, in host memory.
  void begin_pass(RowBounds& bounds) const;
  void begin_pass(GroupBounds& bounds) const;

  struct Moved {
    double squared_shift = 0;         ///< sum_m ||new c_m - c_m||^2
    std::vector<index_t> weightless;  ///< clusters without a mean, in ascending order
  };
  /// Centroids move to the means of their rows, as the function of this name has it, if no cluster is
  /// weightless; else all stay. @param adjust runs on the host: centroids on a device are fetched for it.
  Moved move_to_means(const AdjustMean& adjust = {});
  /// farthest_rows() from these centroids.
  [[nodiscard]] std::vector<FarRow> farthest_rows(const Rows& x, PerRow<const std::int32_t> labels,
                                                  index_t count) const;
  /// Rows of each cluster that weigh something, as collect() has them.
  [[nodiscard]] std::vector<index_t> counts() const;
  /// Takes `rows` (m x d) from the sums of the clusters `from` and adds them to those of `to`; with several ranks in
  /// what collect() gave. Exchanging `from` and `to` restores all bits.
  void move_rows(HostView<const double> rows, std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                 std::span<const double> weights);
  /// Centroids (k x d) from elsewhere. Sums stay.
  void place(Matrix<double> centroids);
  /// The function of this name, of sums and centroids as they are.
  [[nodiscard]] Twofold inertia_terms();

 private:
  [[nodiscard]] const ClusterSums& all_sums() const noexcept { return of_ranks_ ? *of_ranks_ : sums_; }

  const Context& ctx_;
  const ColumnMoments& moments_;
  FixedPoint unit_;
  // Either these or those on the device.
  Matrix<double> centroids_;
  ClusterSums sums_;
  std::optional<ClusterSums> of_ranks_;  ///< of several
  std::unique_ptr<assign_device::DeviceClusters> there_;
};

}  // namespace ts::inline v0
