// What only the elements of a matrix tell.
#pragma once

#include "tallskinny/io/matrix_file.hpp"

namespace ts::tsdata {

struct Scan {
  double smallest = 0, largest = 0;               ///< finite values; of complex ones the absolute value
  double smallest_magnitude = 0;                  ///< of the finite nonzero values; 0 if there are none
  index_t entries = 0;                            ///< triangles are expanded
  index_t zeros = 0, not_finite = 0;              ///< stored zeros; NaN and infinities
  index_t empty_rows = 0;                         ///< rows without a nonzero
  io::Structure actual = io::Structure::general;  ///< the first that holds of symmetric, hermitian, skew_symmetric
};

[[nodiscard]] Scan scan(const io::SparseMatrix& matrix);
[[nodiscard]] Scan scan(const io::DenseMatrix& matrix);

}  // namespace ts::tsdata
