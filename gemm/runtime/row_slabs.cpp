#include "tallskinny/gemm/runtime/row_slabs.hpp"

#include <algorithm>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0 {

RowSlabs::RowSlabs(std::vector<index_t> begins) : begins_(std::move(begins)) {
  expects(begins_.size() >= 2 && begins_.front() == 0 && std::is_sorted(begins_.begin(), begins_.end()),
          "slabs of rows: the list of where they begin must start with 0, not decrease, and end with the "
          "number of rows");
}

RowSlabs RowSlabs::of_units(index_t rows, int slabs) { return of_pieces(rows, slabs, row_unit(rows)); }

RowSlabs RowSlabs::of_pieces(index_t rows, int slabs, index_t piece) {
  expects(rows >= 0 && slabs >= 1 && piece >= 1,
          "slabs of rows: there must be a slab or more, no fewer than 0 rows, and a row or more in a piece");
  const index_t pieces = (rows + piece - 1) / piece;
  std::vector<index_t> begins;
  for (int slab = 0; slab <= slabs; ++slab) begins.push_back(std::min(rows, pieces * slab / slabs * piece));
  return RowSlabs(std::move(begins));
}

int RowSlabs::slab_of(index_t row) const noexcept {
  return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), row) - begins_.begin()) - 1;
}

}  // namespace ts::inline v0
