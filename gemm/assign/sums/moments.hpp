// Means, variances and ranges of columns.
#pragma once

#include <vector>

#include "tallskinny/gemm/assign/rows/chunks.hpp"

namespace ts {

/// What one pass over the rows tells about their columns; all in float64, the same bits for any thread count.
struct ColumnMoments {
  std::vector<double> mean, variance;  ///< of each column, every row counting once; variance over n
  std::vector<double> shift;           ///< close to the mean; zero for sparse rows. Subtracted before products
  std::vector<double> reach;           ///< max |x_ij - shift_j| of each column
};
/// @throws Error(invalid_argument) naming row and column of the first NaN or infinity.
ColumnMoments column_moments(const Context& ctx, const Rows& x);

/// The same for rows that come in blocks, each but the last a multiple of chunk_rows long: two rounds over
/// all blocks in order. The bits are those of column_moments of all rows at once.
class MomentsOfBlocks {
 public:
  explicit MomentsOfBlocks(index_t cols);
  /// @throws Error(invalid_argument) naming row (counted from the first block on) and column.
  void first_round(const Context& ctx, const Rows& block);
  void second_round(const Context& ctx, const Rows& block);
  [[nodiscard]] ColumnMoments finish() &&;

 private:
  void between_rounds();

  ColumnMoments moments_;
  std::vector<index_t> stored_;  ///< entries of each column of sparse rows
  index_t rows_ = 0;
  bool finite_ = true, sparse_ = false, second_ = false;
};

}  // namespace ts
