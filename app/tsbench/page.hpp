// A page of curves from the figures of tsbench gpu.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/app/tsbench/summary.hpp"

namespace ts::bench {

/// What stands above the curves.
struct PageHeader {
  std::string device, date, commit, vendor;
  double read_bytes_per_second = 0, copy_bytes_per_second = 0;
};

/// For each table of cells the share of the roof against the width: a panel for each type, a line for each
/// operation and a thin one for the vendor's best; pairs of widths as coloured squares.
[[nodiscard]] std::string html_page(const PageHeader& header, const std::vector<Cell>& cells);

/// The cells of a file that tsbench gpu wrote, and what it says about the run.
/// @throws Error(bad_input) naming the file, Error(io_failure).
struct StoredResults {
  PageHeader header;
  std::vector<Cell> cells;
};
[[nodiscard]] StoredResults read_results(const std::string& path);

}  // namespace ts::bench
