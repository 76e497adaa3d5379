#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"

#include <algorithm>
#include <functional>

#include "tallskinny/solvers/kmeans/pass/clusters/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/add_rows.hpp"

namespace ts::inline v0 {

Clusters::Clusters(const Context& ctx, Space space, const ColumnMoments& moments, const FixedPoint& unit,
                   Matrix<double> centroids)
    : ctx_(ctx),
      moments_(moments),
      unit_(unit),
      sums_(space == Space::host ? centroids.rows() : 0, space == Space::host ? centroids.cols() : 0) {
  expects(centroids.rows() >= 1 && centroids.cols() == std::ssize(moments.shift),
          "clusters: the moments are those of other rows, or there is no centroid");
  if (space == Space::host)
    centroids_ = std::move(centroids);
  else
    there_ = std::make_unique<assign_device::DeviceClusters>(ctx, moments, unit, centroids.cview());
}

Clusters::Clusters(Clusters&&) noexcept = default;
Clusters::~Clusters() = default;

Matrix<double> Clusters::centroids() const {
  return there_ ? there_->centroids() : Matrix<double>::copy_of(centroids_.cview());
}

ClusterSums Clusters::sums() const { return there_ ? there_->sums() : all_sums(); }

void Clusters::collect() {
  if (ctx_.communicator->size() == 1) return;
  if (there_)
    there_->collect();
  else
    of_ranks_ = sums_of_ranks(ctx_, sums_);
}

AssignStats Clusters::assign(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                             Sums sums, BoundsOfRows bounds, bool settled, GroupBoundsOfRows group_bounds,
                             PassFilter filter) {
  const bool move = sums == Sums::move;
  if (!there_)
    return ts::assign(ctx_, {x, moments_, centroids_.cview(), scores, labels, weights, move ? &unit_ : nullptr,
                             move ? &sums_ : nullptr, bounds, settled, group_bounds});
  assign_detail::expect_per_row(x, labels, "labels");
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  expects(x.on_device() && x.cols() == std::ssize(moments_.shift), "clusters: clusters on a device serve rows there");
  return there_->assign(x, scores, labels, weights, move, settled, filter);
}

HeadsForm Clusters::heads_form(const Rows& x, index_t passes, bool wanted) const {
  return there_ ? there_->heads_form(x, passes, wanted) : HeadsForm{};
}

void Clusters::use_heads(const Rows& x, DeviceView<const double> axes, HeadNumbers numbers) {
  expects(there_ != nullptr && axes.rows() == x.cols(),
          "clusters: heads serve rows on a device, and have their columns");
  there_->use_heads(x, axes, numbers);
}

bool Clusters::tile_bounds_may_pay(const Rows& x, bool wanted) const {
  return there_ && there_->tile_bounds_may_pay(x, wanted);
}

void Clusters::use_tile_bounds(const Rows& x) {
  expects(there_ != nullptr, "clusters: bounds of tiles serve rows on a device");
  there_->use_tile_bounds(x);
}

ChoosingCosts Clusters::choosing_costs(const Rows& x) const {
  return there_ ? there_->choosing_costs(x) : ChoosingCosts{};
}

void Clusters::rehearse(const Rows& x, Scores scores, PerRow<std::int32_t> labels, PerRow<const double> weights,
                        index_t passes_with_heads) {
  expects(there_ != nullptr, "clusters: only passes on a device are rehearsed");
  there_->rehearse(x, scores, labels, weights, passes_with_heads);
}

void Clusters::add_rows(const Rows& x, PerRow<const std::int32_t> labels, PerRow<const double> weights) {
  if (!there_) return ts::add_rows(ctx_, x, moments_, labels, weights, unit_, sums_);
  assign_detail::expect_per_row(x, labels, "labels");
  expects(x.on_device() && x.cols() == std::ssize(moments_.shift), "clusters: clusters on a device serve rows there");
  there_->add_rows(x, labels, weights);
}

void Clusters::begin_pass(RowBounds& bounds) const {
  expects(!there_, "clusters: bounds of rows serve clusters in host memory");
  bounds.begin_pass(ctx_, centroids_.cview(), moments_);
}

void Clusters::begin_pass(GroupBounds& bounds) const {
  expects(!there_, "clusters: bounds of groups serve clusters in host memory");
  bounds.begin_pass(ctx_, centroids_.cview());
}

Clusters::Moved Clusters::move_to_means(const AdjustMean& adjust) {
  Moved moved;
  if (there_ && !adjust) {
    moved.squared_shift = there_->move_to_means(moved.weightless);
    return moved;
  }
  const auto move = [&](const ClusterSums& sums, HostView<double> centroids) {
    for (index_t m = 0; m < sums.clusters(); ++m)
      if (sums.weightless(m)) moved.weightless.push_back(m);
    if (moved.weightless.empty())
      moved.squared_shift = ts::move_to_means(ctx_, unit_, sums, moments_.shift, centroids, adjust);
  };
  if (!there_) {
    move(all_sums(), centroids_.view());
    return moved;
  }
  Matrix<double> adjusted = centroids();
  move(sums(), adjusted.view());
  if (moved.weightless.empty()) place(std::move(adjusted));
  return moved;
}

std::vector<FarRow> Clusters::farthest_rows(const Rows& x, PerRow<const std::int32_t> labels, index_t count) const {
  return there_ ? there_->farthest_rows(x, labels, count)
                : ts::farthest_rows(ctx_, x, centroids_.cview(), labels, count);
}

std::vector<index_t> Clusters::counts() const {
  if (there_) return there_->counts();
  std::vector<index_t> found;
  for (index_t m = 0; m < centroids_.rows(); ++m) found.push_back(all_sums().count(m));
  return found;
}

void Clusters::move_rows(HostView<const double> rows, std::span<const std::int32_t> from,
                         std::span<const std::int32_t> to, std::span<const double> weights) {
  if (there_) return there_->move_rows(rows, from, to, weights);
  ClusterSums& sums = of_ranks_ ? *of_ranks_ : sums_;
  std::vector<double> row(moments_.shift.size());
  for (std::size_t q = 0; q < from.size(); ++q) {
    const double* const values = rows.data() + static_cast<index_t>(q) * rows.ld();
    std::transform(values, values + rows.cols(), moments_.shift.begin(), row.begin(), std::minus<>());
    sums.add(unit_, from[q], row.data(), weights[q], true);
    sums.add(unit_, to[q], row.data(), weights[q]);
  }
}

void Clusters::place(Matrix<double> centroids) {
  if (there_) return there_->place(centroids.cview());
  expects(centroids.rows() == centroids_.rows() && centroids.cols() == centroids_.cols(),
          "clusters: the centroids placed have another shape");
  centroids_ = std::move(centroids);
}

Twofold Clusters::inertia_terms() {
  if (there_) return there_->inertia_terms();
  return ts::inertia_terms(ctx_, unit_, all_sums(), moments_.shift, centroids_.cview());
}

}  // namespace ts::inline v0
