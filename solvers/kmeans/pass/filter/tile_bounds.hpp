// Bounds of tiles of rows on a device: which centroids may be the nearest one, from how far centroids moved.
#pragma once

#include "tallskinny/solvers/kmeans/pass/filter/projection.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_policy.hpp"

namespace ts::inline v0::assign_device {

/// Filter by bounds of tiles of rows. Rows lie in tiles, in the order of their labels when bounds began. A tile keeps
/// for each centroid how much farther than the nearest one it is for all rows, at least; a row its distance to the
/// nearest one, at most. When centroids have moved, most are still farther for all rows of most tiles. The others are
/// scored, which renews their bounds. The first pass scores all centroids, or those that projections leave with a
/// margin, which is the bound of the others. Source: bounds of pairs (Elkan 2003), here of tiles of rows. Memory:
/// bytes().
class TileBounds : public CandidateFilter {
 public:
  /// Prepares for rows x, which stay in place, and k clusters. Memory is taken once it is needed.
  TileBounds(const Rows& x, index_t k);
  [[nodiscard]] static std::uint64_t bytes(index_t n, index_t d, index_t k) noexcept;

  /// True if a pass over these rows, all of which have labels, may use the bounds. Another scale discards them.
  [[nodiscard]] bool fit(const Rows& x, double scale) noexcept;
  /// True if there are bounds from the pass before.
  [[nodiscard]] bool known() const noexcept { return known_; }
  /// Makes the next pass set bounds, by these projections, if any, and with such a margin, times the scale.
  void begin_by(ProjectionFilter* projections, double margin) noexcept {
    projections_ = projections, margin_ = static_cast<float>(margin);
  }
  void set_centroids(const Context& ctx, const double* centroids) override {
    if (!known_ && projections_ != nullptr) projections_->set_centroids(ctx, centroids);
  }
  [[nodiscard]] bool bounded() const noexcept override { return true; }
  [[nodiscard]] ListedCentroids candidates(const Context& ctx, const FilterPass& pass) override;
  /// Call after a pass by bounds; it scored `kept` pairs of a row and a centroid.
  void passed(index_t kept) noexcept;
  /// Discards the bounds; call after any other pass.
  void forget() noexcept { known_ = false, few_ = 0; }

 private:
  void allocate(const Context& ctx, const FilterPass& pass);
  void measure(const Context& ctx, const FilterPass& pass);
  void place_centroids(const Context& ctx, const FilterPass& pass);
  void move(const Context& ctx, const FilterPass& pass, bool first);
  void list(const Context& ctx, const FilterPass& pass, bool first, const cuda::CandidateLists& given);
  [[nodiscard]] ListedCentroids listed(const FilterPass& pass, const cuda::CandidateLists& given) const;

  Rows x_;
  index_t n_, d_, k_, padded_;
  double scale_ = 0;
  ProjectionFilter* projections_ = nullptr;
  float margin_ = 0;
  bool known_ = false;
  int few_ = 0;                  ///< undecided rows of the next pass, fewer than which are decided at once
  DeviceMatrix<double> before_;  ///< k x d: centroids of the pass before
  cuda::Memory moves_, nearest_, upper_, bounds_;
  cuda::Memory places_, order_, list_, numbers_, counts_, schedule_;
  cuda::Memory by_rows_, origins_, chunks_;  ///< of centroids
  index_t tile_ = 0;                         ///< rows of one
};

}  // namespace ts::inline v0::assign_device
