// What a whole table comes to, in a few lines.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::bench {

/// A measured case as summaries need it.
struct Cell {
  std::string table, operation, type, form;
  index_t n = 0, p = 0, q = 0;
  double seconds = 0;  ///< 0: the result was wrong
  double share = 0;    ///< of the roof
  double ratio = 0;    ///< vendor's time over ours; 0: it has no way
  bool same_bits = true;
  double sector_share = 0;  ///< of the roof, counting whole sectors; 0: no gaps
};

/// A line for each table, operation and type: the lowest and highest share of the roof up to width 32 and
/// beyond, and how the ratios to the vendor's best lie; then a line about all.
void print_summary(std::ostream& out, const std::vector<Cell>& cells);

}  // namespace ts::bench
