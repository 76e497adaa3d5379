// Means, variances and ranges of columns.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"

namespace ts::inline v0 {

/// Moments of the columns, from passes over the rows; all in float64, the same bits for any thread count.
struct ColumnMoments {
  std::vector<double> mean, variance;  ///< of each column, every row counting once; variance over n
  std::vector<double> shift;           ///< close to the mean; zero for sparse rows. Subtracted before products
  std::vector<double> max_abs;         ///< max |x_ij - shift_j| of each column
};
/// @throws Error(invalid_argument) naming row and column of the first NaN or infinity. @param first_row the number of
/// the first row, for sentences.
ColumnMoments column_moments(const Context& ctx, const Rows& x, index_t first_row = 0);
/// Moments in one round, with `mean` as the mean of every column; variance is about that. Sparse rows take
/// column_moments().
ColumnMoments moments_about(const Context& ctx, const Rows& x, std::span<const double> mean, index_t first_row = 0);

/// Moments of rows that come in blocks, each but the last a multiple of chunk_rows long: two rounds over all blocks in
/// order. The bits are those of column_moments of all rows at once. With several ranks, whose rows begin at a multiple
/// of chunk_rows, all of them call end_round() after each round.
class MomentsOfBlocks {
 public:
  /// use(block) for all blocks here.
  using Pass = std::function<void(const std::function<void(const Rows& block)>& use)>;

  /// @param first_row the number of the first row on one rank, for sentences
  explicit MomentsOfBlocks(index_t cols, index_t first_row = 0);
  /// @throws Error(invalid_argument) naming row (counted from the first block of all ranks on) and column.
  void first_round(const Context& ctx, const Rows& block);
  void second_round(const Context& ctx, const Rows& block);
  /// Sums are put together rank after rank: of chunks where rows are dense; sparse rows pass once more.
  /// @throws Error(invalid_argument) where some ranks have dense rows and others sparse ones.
  void end_round(const Context& ctx, const Pass& again);
  [[nodiscard]] ColumnMoments finish() &&;

 private:
  void between_rounds();
  void add_sums(const Matrix<double>& of_chunks);
  void add_entries(const Rows& x);
  void add_squares(const Rows& x);

  ColumnMoments moments_;
  std::vector<double> stored_;  ///< entries of each column of sparse rows
  index_t rows_ = 0, rows_here_ = 0, first_row_;
  bool finite_ = true, sparse_ = false, second_ = false;
  std::vector<Matrix<double>> waiting_;  ///< of chunks here, until the ranks before have added theirs
};

}  // namespace ts::inline v0
