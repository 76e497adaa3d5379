// Rows of a file for passes in blocks.
#pragma once

#include <memory>

#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::app {

/// All rows of `reader`; those asked to be checked are, unless the input is trusted.
[[nodiscard]] solvers::RowOrigin row_origin(const std::shared_ptr<const io::RowReader>& reader,
                                            const io::ReadOptions& read);

}  // namespace ts::app
