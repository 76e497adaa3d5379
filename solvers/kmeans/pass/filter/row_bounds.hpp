// Bounds on distances that let a pass leave alone the rows whose label cannot have changed.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/filter.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0 {

/// For each row an upper bound on the distance to its own centroid and a lower bound on that to every other one. Both
/// are in float32, rounded outwards, and moved along with the centroids from pass to pass. A row keeps its label
/// without being read if
///   upper < lower   or   upper < min_{j != label} ||c_label - c_j|| / 2,
/// which proves that its centroid is the only nearest one: ties are never skipped. Source: Hamerly 2010, "Making
/// k-means even faster", algorithm 1. 8 bytes for each row.
class RowBounds {
 public:
  explicit RowBounds(index_t rows);

  [[nodiscard]] index_t rows() const noexcept { return rows_; }

  /// Moves the bounds. Call before each pass over all the rows, which must be the same, with labels as assign() left
  /// them. Bounds that the last pass could not give (the first pass, copies among its centroids) are void.
  void begin_pass(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments);

  /// Discards the bounds. Call after passes over the rows that did not move them.
  void forget() noexcept { scaled_ = {}; }

  /// True if bounds of an earlier pass hold.
  [[nodiscard]] bool hold() const noexcept { return hold_; }
  [[nodiscard]] float* upper(index_t row) noexcept { return upper_.data() + row; }
  [[nodiscard]] float* lower(index_t row) noexcept { return lower_.data() + row; }
  [[nodiscard]] const assign_cpu::CentroidSteps& steps() const noexcept { return steps_; }
  /// Bounds are distances times this.
  [[nodiscard]] double scale() const noexcept { return scale_; }
  /// Row m: (c_m - shift) scale.
  [[nodiscard]] const double* centroid(index_t m) const noexcept { return scaled_.data() + m * scaled_.cols(); }

 private:
  void set_steps();

  index_t rows_;
  std::vector<float> upper_, lower_, moved_, half_gap_;
  assign_cpu::CentroidSteps steps_;
  Matrix<double> scaled_;
  double scale_ = 0;
  bool hold_ = false, copies_ = false;
};

/// The rows of one call of assign(), from row `first` of the bounds on; none: every row is scored.
struct BoundsOfRows {
  RowBounds* all = nullptr;
  index_t first = 0;

  [[nodiscard]] bool hold() const noexcept { return all != nullptr && all->hold(); }
  [[nodiscard]] PassFilter filter() const noexcept { return hold() ? PassFilter::rows : PassFilter::none; }
  [[nodiscard]] float* upper(index_t row) const noexcept { return all->upper(first + row); }
  [[nodiscard]] float* lower(index_t row) const noexcept { return all->lower(first + row); }
};

}  // namespace ts::inline v0
