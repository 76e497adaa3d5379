#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"

#include <algorithm>
#include <optional>

namespace ts::inline v0 {

namespace {

/// Ready for passes over these rows.
std::unique_ptr<GroupBounds> group_bounds_of(const Context& ctx, const ColumnMoments& moments, index_t rows, index_t k,
                                             const Clusters::EachBlock& each) {
  auto bounds = std::make_unique<GroupBounds>(ctx, rows, k, moments);
  each([&](index_t first, const Rows& block) { bounds->put(ctx, first, block); });
  return bounds;
}

class HostClusters final : public Clusters {
 public:
  HostClusters(const Context& ctx, const ColumnMoments& moments, const FixedPoint& unit, Matrix<double> centroids)
      : Clusters(ctx, moments, unit, centroids.cview()), centroids_(std::move(centroids)), sums_(k_, d_) {}

  [[nodiscard]] Matrix<double> centroids() const override { return Matrix<double>::copy_of(centroids_.cview()); }
  [[nodiscard]] ClusterSums sums() const override { return all_sums(); }
  void collect() override {
    if (ctx_.communicator->size() > 1) of_ranks_ = sums_of_ranks(ctx_, sums_);
  }

  void begin_pass(PassFilter filter, index_t rows, const EachBlock& each) override {
    filter_ = filter;
    if (filter == PassFilter::groups) {
      if (!group_bounds_) group_bounds_ = group_bounds_of(ctx_, moments_, rows, k_, each);
      group_bounds_->begin_pass(ctx_, centroids_.cview());
    } else {
      group_bounds_.reset();  // passes no longer move them along
    }
    if (filter == PassFilter::rows) {
      if (!row_bounds_) row_bounds_.emplace(rows);
      row_bounds_->begin_pass(ctx_, centroids_.cview(), moments_);
    } else if (row_bounds_) {
      row_bounds_->forget();
    }
  }
  AssignStats assign(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights, Sums sums,
                     bool stable, index_t first) override {
    AssignArguments of{x, moments_, centroids_.cview(), scores, labels, weights};
    of.stable = stable;
    if (sums == Sums::move) of.unit = &unit_, of.sums = &sums_;
    if (filter_ == PassFilter::rows) of.bounds = {&*row_bounds_, first};
    if (filter_ == PassFilter::groups) of.group_bounds = {group_bounds_.get(), first};
    return ts::assign(ctx_, of);
  }

  void add_rows(const Rows& x, PerRow<const std::int32_t> labels, PerRow<const double> weights) override {
    ts::add_rows(ctx_, x, moments_, labels, weights, unit_, sums_);
  }
  Moved move_to_means(const AdjustMean& adjust) override { return move_here(all_sums(), centroids_.view(), adjust); }
  [[nodiscard]] std::vector<FarRow> farthest_rows(const Rows& x, PerRow<const std::int32_t> labels,
                                                  index_t count) const override {
    return ts::farthest_rows(ctx_, x, centroids_.cview(), labels, count);
  }
  [[nodiscard]] std::vector<index_t> counts() const override {
    std::vector<index_t> found;
    for (index_t m = 0; m < k_; ++m) found.push_back(all_sums().count(m));
    return found;
  }
  void move_rows(HostView<const double> rows, std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                 std::span<const double> weights) override {
    ClusterSums& sums = of_ranks_ ? *of_ranks_ : sums_;
    std::vector<double> row(moments_.shift.size());
    for (std::size_t q = 0; q < from.size(); ++q) {
      const double* const values = rows.data() + static_cast<index_t>(q) * rows.ld();
      std::transform(values, values + rows.cols(), moments_.shift.begin(), row.begin(), std::minus<>());
      sums.add(unit_, from[q], row.data(), weights[q], true);
      sums.add(unit_, to[q], row.data(), weights[q]);
    }
  }
  void place(Matrix<double> centroids) override {
    expect_shape(centroids.cview());
    centroids_ = std::move(centroids);
  }
  [[nodiscard]] Twofold inertia_terms() override {
    return ts::inertia_terms(ctx_, unit_, all_sums(), moments_.shift, centroids_.cview());
  }

 private:
  [[nodiscard]] const ClusterSums& all_sums() const noexcept { return of_ranks_ ? *of_ranks_ : sums_; }

  Matrix<double> centroids_;
  ClusterSums sums_;
  std::optional<ClusterSums> of_ranks_;  ///< of several
  PassFilter filter_ = PassFilter::none;
  std::optional<RowBounds> row_bounds_;
  std::unique_ptr<GroupBounds> group_bounds_;
};

}  // namespace

std::unique_ptr<Clusters> Clusters::make(const Context& ctx, Space space, const ColumnMoments& moments,
                                         const FixedPoint& unit, Matrix<double> centroids) {
  expects(centroids.rows() >= 1 && centroids.cols() == std::ssize(moments.shift),
          "clusters: the moments are those of other rows, or there is no centroid");
  if (space == Space::device) return assign_device::make_clusters(ctx, moments, unit, centroids.cview());
  return std::make_unique<HostClusters>(ctx, moments, unit, std::move(centroids));
}

void Clusters::expect_shape(HostView<const double> centroids) const {
  expects(centroids.rows() == k_ && centroids.cols() == d_, "clusters: the centroids placed have another shape");
}

Clusters::Moved Clusters::move_here(const ClusterSums& sums, HostView<double> centroids,
                                    const AdjustMean& adjust) const {
  Moved moved;
  for (index_t m = 0; m < k_; ++m)
    if (sums.weightless(m)) moved.weightless.push_back(m);
  if (moved.weightless.empty())
    moved.squared_shift = ts::move_to_means(ctx_, unit_, sums, moments_.shift, centroids, adjust);
  return moved;
}

void Clusters::refuse() {
  throw Error(Errc::invalid_argument, "clusters: projections and tiles serve rows on a device");
}

}  // namespace ts::inline v0
