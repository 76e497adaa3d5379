// Lower bounds of the distance of every row to every group of centroids, which leave products out.
#pragma once

#include <cstdint>
#include <vector>

#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0 {

namespace assign_detail {
class GroupsPass;
}

/// Bounds of dense rows that are kept from pass to pass: the rows in 8 bits, an upper bound of the distance of each row
/// to the centroid of its label, and in float16 a lower bound of that to each group of centroids. Groups are 32
/// centroids that lie near each other (Yinyang; Ding et al. 2015); the bound leaves out the label's own centroid. Lower
/// bounds decrease by the greatest move of a centroid of the group. Groups whose lower bound is above the upper one are
/// skipped. Others are scored in 8 bits as in a pass with Scores::int8, and rows that this leaves undecided in float32.
/// Labels are those of a pass without bounds.
///
/// The first pass costs as much as one without. Memory: bytes().
class GroupBounds {
 public:
  /// True if the processor has instructions for it; @param d columns
  [[nodiscard]] static bool possible(const Context& ctx, index_t d);
  /// Costs of products in 8 bits there.
  [[nodiscard]] static assign_cpu::ProductCosts costs(const Context& ctx);
  /// Bytes that are kept.
  [[nodiscard]] static std::uint64_t bytes(index_t rows, index_t d, index_t k) noexcept;

  /// @param k of all passes. Moments must outlive this.
  GroupBounds(const Context& ctx, index_t rows, index_t k, const ColumnMoments& moments);

  [[nodiscard]] index_t rows() const noexcept { return rows_; }

  /// Stores the rows of `block`, which begin at `first` among all; every row once, before the first pass.
  void put(const Context& ctx, index_t first, const Rows& block);

  /// Moves the bounds. Call before each pass over all rows, which must have the labels that assign() left.
  void begin_pass(const Context& ctx, HostView<const double> centroids);
  /// True if the pass may use it: not where centroids lie farther out than rows.
  [[nodiscard]] bool serves() const noexcept { return serves_; }

 private:
  friend class assign_detail::GroupsPass;
  void forget(const Context& ctx);
  void order_centroids();

  index_t rows_, d_, columns_, stride_, k_, groups_, pieces_;
  const ColumnMoments& moments_;
  double scale_;  ///< of rows and centroids
  // For each row:
  HostMemory bytes_memory_, bounds_memory_;
  std::int8_t* bytes_;  ///< columns_ of each, stride_ apart: an odd number of lines of a cache
  std::vector<float> unit_, byte_norm_, error_, square_;  ///< of bytes; ||bytes||, ||x - bytes||, ||x||^2, at most
  std::vector<std::int32_t> start_;                       ///< what products with the offset of centroids add, negated
  std::vector<float> upper_;                              ///< of the distance to the label; infinite: not known
  std::uint16_t* bounds_;  ///< float16; of group g and row r of piece p at (p groups + g) piece_size + r
  // For each centroid:
  std::vector<std::int32_t> number_, place_;  ///< of the centroid at a place, group by group; the other way round
  std::vector<float> moved_, group_moved_;    ///< of centroids by number; of groups, at most
  Matrix<double> scaled_, before_;            ///< of the last pass, and room for the next
  bool serves_ = false, copies_ = false;
};

/// The rows of one call of assign(), from row `first` of all on; or none.
struct GroupBoundsOfRows {
  GroupBounds* all = nullptr;
  index_t first = 0;
};

}  // namespace ts::inline v0
