// Heads of rows and centroids, whose products tell which centroids need not be met in all columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tallskinny/gemm/assign/scores/bytes.hpp"
#include "tallskinny/gemm/assign/sums/moments.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

namespace assign_detail {
class PrunedPass;
}  // namespace assign_detail

/// With orthonormal axes Q (d x m) a row x (shifted and scaled, as in assign()) has the head Q^T x, of which h is
/// kept, in 8 bits; e is what rounding took from the head, and t the tail, what x has beside the axes. For a centroid
/// likewise:
///   | x c - h_x h_c |  <=  |h_x| |e_c| + |e_x| |h_c| + |e_x| |e_c| + |t_x| |t_c|  <=  r_x r_c,
/// the last step by Cauchy and Schwarz. So ||c||^2 / 2 - h_x h_c - r_x r_c is not above the score of c; where it is
/// above that of the label before, c is not the nearest centroid. Means of many rows have short tails, so that few
/// columns leave few centroids to be met in all of them.
///
/// From pass to pass there is a lower bound for the distances of a row to the centroids of each group of 32, without
/// that of its label, moved along as centroids move; a group beyond the distance to the label is not met at all. Groups
/// are made once, of centroids near each other.
///
/// Centroids that heads leave are met with all columns in 8 bits, where only e counts, and what that leaves in float32.
///
/// Any orthonormal axes serve; the leading ones of the rows leave the least. Bounds contain all rounding, so that
/// labels are those of a pass without. Memory: m + k / 16 + 28 bytes for each row.
/// Sources: Ding et al. 2015, "Yinyang k-means", for groups; the split of a product is the idea of PCA trees and of
/// ADSampling (Gao, Long 2023), here with a proof.
class Pruning {
 public:
  /// Whether the processor has instructions for it.
  [[nodiscard]] static bool possible(const Context& ctx);
  [[nodiscard]] static assign_cpu::ProductCosts costs(const Context& ctx);
  /// Columns of heads are a multiple of this.
  static constexpr index_t columns_step = assign_cpu::head_columns, most_columns = 512;
  /// What rounding takes from a computed head, of the length of the row, at most.
  [[nodiscard]] static double rounding(index_t d, index_t columns) noexcept {
    return static_cast<double>(d + 8) * 0x1p-24 * std::sqrt(static_cast<double>(columns));
  }

  /// @param axes d x m, orthonormal to 1e-9; m is a multiple of columns_step, at most most_columns
  /// @param k of all passes. Moments must outlive this.
  Pruning(const Context& ctx, index_t rows, HostView<const double> axes, index_t k, const ColumnMoments& moments);

  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t columns() const noexcept { return columns_; }

  /// Heads of the rows `first` .. of all; of every row once, before the first pass.
  void put(const Context& ctx, index_t first, const Rows& block);

  /// To be called before each pass over all rows, which must have the labels that assign() left.
  void begin_pass(const Context& ctx, HostView<const double> centroids);
  /// Whether the pass may use it: not where centroids lie farther out than rows.
  [[nodiscard]] bool serves() const noexcept { return serves_; }

 private:
  friend class assign_detail::PrunedPass;
  void put_row(const assign_cpu::AssignKernels& kernels, index_t row, const float* head, double square);
  void round_whole(const Context& ctx, const assign_cpu::AssignKernels& kernels, const std::vector<double>& square);
  void order_centroids(const Matrix<float>& heads);
  void forget();

  index_t rows_, d_, columns_, k_, groups_;
  const ColumnMoments& moments_;
  double scale_;           ///< of rows and centroids
  double defect_ = 0;      ///< ||Q^T Q - I||, at most
  double rounding_ = 0;    ///< of computed heads: at most this times ||x||
  Matrix<float> axes_;     ///< d x m, mixed
  Matrix<float> unmixed_;  ///< those given, until centroids are in order
  // Of each row.
  assign_detail::InLines<std::int8_t> bytes_;        ///< h_x factor
  std::vector<float> unit_;                          ///< 1 / factor
  std::vector<std::int32_t> start_;                  ///< what products with the offset of centroids add, negated
  std::vector<float> head_, error_, tail_, square_;  ///< |h_x|, |e_x|, |t_x|, ||x||^2, at most
  std::vector<float> upper_;                         ///< of the distance to the label; infinite: not known
  std::vector<std::uint16_t> bounds_;  ///< float16; of group g and row r of piece p at (p groups + g) head_piece + r
  double typical_head_ = 0, typical_error_ = 0, typical_tail_ = 0;
  // Of each centroid.
  std::vector<std::int32_t> number_,
      place_;  ///< of the centroid at a place, groups of 32 in order; the other way round
  assign_detail::GroupsOfBytes groups_of_heads_;  ///< in the order of places
  std::vector<float> moved_, group_moved_;        ///< of centroids by number; of groups
  Matrix<double> scaled_;                         ///< centroids of the last pass
  /// All columns in bytes: those of centroid m from m whole_columns_ on, in units of its own; |e_c| and ||c||, at most.
  index_t whole_columns_ = 0;
  assign_detail::InLines<std::uint8_t> whole_;
  std::vector<float> whole_unit_, whole_error_, whole_norm_;
  double of_head_ = 1, of_error_ = 1;  ///< weights of Cauchy and Schwarz, squared
  double largest_norm_ = 0, largest_radius_ = 0;
  bool serves_ = false, copies_ = false, ordered_ = false;
};

class PairBounds;

/// The rows of one call of assign(), from row `first` of all on: one of the two, or neither.
struct PruningOfRows {
  Pruning* all = nullptr;
  index_t first = 0;
  PairBounds* pairs = nullptr;
};

}  // namespace ts::inline v0
