// Lower bounds of the distance of every row to every centroid, where rows are wide and centroids few.
#pragma once

#include <cstdint>
#include <vector>

#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/assign/sums/moments.hpp"
#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

/// Keeps, from pass to pass, rows in 8 bits in all columns, an upper bound of the distance of each row to the centroid
/// of its label, and a lower bound of that to each centroid, in float16 (Elkan 2003). Lower bounds become less by what
/// the centroid moved. Only pairs whose lower bound is not above the upper one are met, in 8 bits first as in a pass
/// with Scores::int8; what that leaves open is met in float32. Labels are those of a pass without.
///
/// Other than Pruning it needs no axes, and the first pass costs as much as one without. Memory: d + 2 k + 28 bytes for
/// each row of d columns.
class PairBounds {
 public:
  /// Whether the processor has instructions for it; @param d columns
  [[nodiscard]] static bool possible(const Context& ctx, index_t d);

  /// @param k of all passes. Moments must outlive this.
  PairBounds(const Context& ctx, index_t rows, index_t k, const ColumnMoments& moments);

  [[nodiscard]] index_t rows() const noexcept { return rows_; }

  /// The rows `first` .. of all; every row once, before the first pass.
  void put(const Context& ctx, index_t first, const Rows& block);

  /// To be called before each pass over all rows, which must have the labels that assign() left.
  void begin_pass(const Context& ctx, HostView<const double> centroids);
  /// Whether the pass may use it: not where centroids lie farther out than rows.
  [[nodiscard]] bool serves() const noexcept { return serves_; }

 private:
  friend class PairsPass;
  void forget(const Context& ctx);

  index_t rows_, d_, columns_, stride_, k_, pieces_;
  const ColumnMoments& moments_;
  double scale_;  ///< of rows and centroids
  // Of each row.
  HostMemory bytes_memory_, bounds_memory_;
  std::int8_t* bytes_;  ///< columns_ of each, stride_ apart: an odd number of lines of a cache
  std::vector<float> unit_, head_, error_, square_;  ///< of bytes; ||bytes||, ||x - bytes||, ||x||^2, at most
  std::vector<std::int32_t> start_;                  ///< what products with the offset of centroids add, negated
  std::vector<float> upper_;                         ///< of the distance to the label; infinite: not known
  std::uint16_t* bounds_;  ///< float16; of centroid m and row r of piece p at (p k + m) head_piece + r
  // Of each centroid.
  std::vector<float> moved_;
  Matrix<double> scaled_, before_;  ///< of the last pass, and room for the next
  bool serves_ = false, copies_ = false;
};

}  // namespace ts::inline v0
