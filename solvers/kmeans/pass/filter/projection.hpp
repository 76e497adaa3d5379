// Projections of rows on a device: which centroids may be the nearest one, from a few columns of all.
#pragma once

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/candidate_filter.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0::assign_device {

/// Filter by projection. Rows and centroids, shifted and scaled, are projected on m orthonormal axes, best those along
/// which rows differ most. These projections are rounded; norms bound all else. So products of projections
/// prove for most centroids that they are farther than the one of the row's label. Rows are taken in the order of their
/// labels, and a tile of rows is scored with the centroids that may be nearest for one of them. Labels and their proof
/// are those of a pass over all centroids. Source: bounds of partial distances (Cheng et al. 1984), with the remainder
/// by Cauchy and Schwarz. Memory: bytes().
class ProjectionFilter : public CandidateFilter {
 public:
  /// Axes on the device along which projections are taken, d x m, about orthonormal, and the numbers in which
  /// projections are kept. Kernels take as many axes.
  struct Along {
    DeviceView<const double> axes;
    ProjectionNumbers numbers = ProjectionNumbers::float16;
  };
  /// @param scale of scores, in all passes. x, of k clusters, stays where it is. @throws Error(out_of_memory).
  ProjectionFilter(const Context& ctx, const Rows& x, const ColumnMoments& moments, const Along& along, index_t k,
                   double scale);
  [[nodiscard]] static std::uint64_t bytes(index_t n, index_t d, const ProjectionForm& form, index_t k) noexcept;

  /// True if a pass over these rows, all of which have labels, may choose centroids by it.
  [[nodiscard]] bool fit(const Rows& x, double scale) const noexcept {
    return x.values() == x_.values() && x.rows() == n_ && scale == scale_;
  }
  [[nodiscard]] bool bounded() const noexcept override { return false; }
  void set_centroids(const Context& ctx, const double* centroids) override;
  [[nodiscard]] ListedCentroids candidates(const Context& ctx, const FilterPass& pass) override {
    return candidates_within(ctx, pass, 0);
  }
  /// Also lists centroids that are farther than the centroid of the row's label by at most a margin, times the scale.
  [[nodiscard]] ListedCentroids candidates_within(const Context& ctx, const FilterPass& pass, float margin);
  [[nodiscard]] const ProjectionForm& form() const noexcept { return form_; }
  /// Order of the rows in the last pass.
  [[nodiscard]] const std::uint32_t* order() const noexcept { return as<std::uint32_t>(order_); }

 private:
  Rows x_;
  index_t n_, d_, k_, m_, padded_;
  ProjectionForm form_;
  double scale_;
  double held_ = 1, off_ = 0;                       ///< projection_centroids.cuh
  DeviceMatrix<double> axes_, shift_, along_axes_;  ///< of centroids, d x m; shift and centroids along them
  cuda::Memory projections_, norms_;                ///< of rows
  cuda::Memory places_, order_, list_, limits_, signs_, numbers_, counts_;
  cuda::Memory by_rows_, origins_, chunks_;  ///< of centroids
  index_t tile_ = 0;                         ///< rows of one
};

/// Replaces a Gram matrix G = R^T R, of as many columns as projections have at most, by R^-1. Returns false, with G as
/// it was, where a pivot is not above `dead` times the diagonal element that it was.
[[nodiscard]] bool inverse_factor(const Context& ctx, const DeviceMatrix<double>& gram, double dead);

}  // namespace ts::inline v0::assign_device
