// The clusters of a run that takes many passes: centroids and sums of rows stay where the rows are.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/distances.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"

namespace ts::inline v0 {

/// k centroids of d columns with their ClusterSums, and data that filters keep from pass to pass. They are in host
/// memory or on the device of ctx.stream (8 (4 k d + ...) bytes). There a pass fetches two counters, and
/// move_to_means() 56 bytes for each cluster. Labels, centroids, sums and reports have the same bits in both places.
/// With several ranks passes add up the rows of this rank, and collect() adds those of all.
class Clusters {
 public:
  /// use(first row, block) for the blocks of rows here, in order.
  using EachBlock = std::function<void(const std::function<void(index_t first, const Rows& block)>& use)>;

  /// Sums are zero at first. @param space where the rows of all passes lie. Context and moments must outlive
  /// this.
  /// @param centroids k x d, finite. @throws Error(invalid_argument), Error(out_of_memory).
  [[nodiscard]] static std::unique_ptr<Clusters> make(const Context& ctx, Space space, const ColumnMoments& moments,
                                                      const FixedPoint& unit, Matrix<double> centroids);
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;
  virtual ~Clusters() = default;

  [[nodiscard]] const FixedPoint& unit() const noexcept { return unit_; }
  /// Copies in host memory.
  [[nodiscard]] virtual Matrix<double> centroids() const = 0;
  [[nodiscard]] virtual ClusterSums sums() const = 0;
  /// With several ranks, all of them call it after passes that moved sums. Makes sums(), move_to_means() and
  /// inertia_terms() those of the rows of all ranks.
  virtual void collect() = 0;

  /// Sets the filter of the passes that follow, until the next call; none before the first. Call before each pass over
  /// all rows, whose labels must be those that assign() left. On a device, projection or tiles must be in use.
  /// @param rows number of rows of this rank; `each` visits them where the filter needs them
  virtual void begin_pass(PassFilter filter, index_t rows, const EachBlock& each) = 0;
  enum class Sums { stay, move };
  /// assign() with these centroids; the sums, which must belong to the labels given, move with the labels or
  /// stay. @param first number of the first of these rows, among those of begin_pass()
  virtual AssignStats assign(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                             Sums sums, bool stable = false, index_t first = 0) = 0;

  /// Returns the form that use_projections() should be given for so many passes over these rows on a device; no
  /// columns: projections do not fit, or, unless they are `wanted`, do not pay there.
  [[nodiscard]] virtual ProjectionForm projection_form(const Rows& /*x*/, index_t /*passes*/,
                                                       bool /*wanted*/ = false) const {
    return {};
  }
  /// Lets passes over these rows, all of which have labels, filter centroids by their projections along axes
  /// (filter/projection.hpp); results are the same. Axes: d x projection_form().columns, orthonormal; projection_form()
  /// also says which numbers should pay.
  virtual void use_projections(const Rows& /*x*/, DeviceView<const double> /*axes*/,
                               ProjectionNumbers /*numbers*/ = ProjectionNumbers::float16) {
    refuse();
  }
  /// True if use_tile_bounds() has the memory for these rows on a device, and, unless it is `wanted`, may pay.
  [[nodiscard]] virtual bool tile_bounds_may_pay(const Rows& /*x*/, bool /*wanted*/ = false) const { return false; }
  /// Lets passes filter centroids by bounds of tiles of rows, too (filter/tile_bounds.hpp). Call after
  /// use_projections(), if at all.
  virtual void use_tile_bounds(const Rows& /*x*/) { refuse(); }
  /// Costs of passes over these rows with the filters in use.
  [[nodiscard]] virtual FilterCosts filter_costs(const Rows& /*x*/) const { return {}; }
  /// Starts on a device whatever passes over these rows may start, for a Context that rehearses. Includes passes that
  /// filter centroids by projections, where there will be enough of them and that pays.
  virtual void rehearse(const Rows& /*x*/, Scores /*scores*/, PerRow<std::int32_t> /*labels*/,
                        PerRow<const double> /*weights*/, index_t /*passes_with_projections*/) {
    refuse();
  }

  /// add_rows() to these sums.
  virtual void add_rows(const Rows& x, PerRow<const std::int32_t> labels, PerRow<const double> weights) = 0;
  struct Moved {
    double squared_shift = 0;         ///< sum_m ||new c_m - c_m||^2
    std::vector<index_t> weightless;  ///< clusters without a mean, in ascending order
  };
  /// Moves centroids to the means of their rows, like move_to_means() of means.hpp, if no cluster is weightless; else
  /// all stay. @param adjust runs on the host: centroids on a device are fetched for it.
  virtual Moved move_to_means(const AdjustMean& adjust = {}) = 0;
  /// farthest_rows() from these centroids.
  [[nodiscard]] virtual std::vector<FarRow> farthest_rows(const Rows& x, PerRow<const std::int32_t> labels,
                                                          index_t count) const = 0;
  /// For each cluster, the number of rows with positive weight, as of collect().
  [[nodiscard]] virtual std::vector<index_t> counts() const = 0;
  /// Takes `rows` (m x d) from the sums of the clusters `from` and adds them to those of `to`; with several ranks in
  /// what collect() gave. Exchanging `from` and `to` restores all bits.
  virtual void move_rows(HostView<const double> rows, std::span<const std::int32_t> from,
                         std::span<const std::int32_t> to, std::span<const double> weights) = 0;
  /// Replaces the centroids (k x d). Sums stay.
  virtual void place(Matrix<double> centroids) = 0;
  /// inertia_terms() of the current sums and centroids.
  [[nodiscard]] virtual Twofold inertia_terms() = 0;

 protected:
  Clusters(const Context& ctx, const ColumnMoments& moments, const FixedPoint& unit, HostView<const double> centroids)
      : ctx_(ctx), moments_(moments), unit_(unit), k_(centroids.rows()), d_(centroids.cols()) {}
  [[noreturn]] static void refuse();
  void expect_shape(HostView<const double> centroids) const;
  /// move_to_means() of centroids and sums in host memory.
  Moved move_here(const ClusterSums& sums, HostView<double> centroids, const AdjustMean& adjust) const;

  const Context& ctx_;
  const ColumnMoments& moments_;
  FixedPoint unit_;
  index_t k_, d_;
};

namespace assign_device {
/// Clusters on the device of ctx.stream.
[[nodiscard]] std::unique_ptr<Clusters> make_clusters(const Context& ctx, const ColumnMoments& moments,
                                                      const FixedPoint& unit, HostView<const double> centroids);
}  // namespace assign_device

}  // namespace ts::inline v0
