#include "tallskinny/gemm/runtime/row_slabs.hpp"

#include <algorithm>

#include "tallskinny/gemm/core/error.hpp"

namespace ts {

RowSlabs::RowSlabs(std::vector<index_t> begins) : begins_(std::move(begins)) {
  expects(begins_.size() >= 2 && begins_.front() == 0 && std::is_sorted(begins_.begin(), begins_.end()),
          "slabs of rows: the list of where they begin must start with 0, not decrease, and end with the "
          "number of rows");
}

RowSlabs RowSlabs::of_units(index_t rows, int slabs) {
  expects(rows >= 0 && slabs >= 1, "slabs of rows: there must be a slab or more, and no fewer than 0 rows");
  const index_t unit = row_unit(rows), units = (rows + unit - 1) / unit;
  std::vector<index_t> begins;
  for (int slab = 0; slab <= slabs; ++slab) begins.push_back(std::min(rows, units * slab / slabs * unit));
  return RowSlabs(std::move(begins));
}

}  // namespace ts
