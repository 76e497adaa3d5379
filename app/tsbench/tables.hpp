// The cases that tsbench gpu measures: named tables that make up the whole, or a selection of operations,
// types and widths.
#pragma once

#include <vector>

#include "tallskinny/app/tsbench/case.hpp"
#include "tallskinny/app/tsbench/words.hpp"

namespace ts::bench {

struct TableName {
  std::string_view name, what;
};
[[nodiscard]] std::span<const TableName> table_names() noexcept;

/// The cases of one table for one type. `bytes`: the memory traffic of one run where the table does not fix
/// it.
/// @throws Error(invalid_argument) for a name that is none.
[[nodiscard]] std::vector<Case> table_cases(const std::string& name, DType type, std::int64_t bytes);

/// What a selection asks for in place of tables.
struct Selection {
  std::vector<Operation> operations;
  std::vector<Shape> shapes;
  std::int64_t bytes = 0;
  index_t rows = 0;  ///< instead of a traffic; 0: by bytes
  Layout layout = Layout::row_major;
  index_t gap = 0, offset = 0;
};
[[nodiscard]] std::vector<Case> selected_cases(const Selection& selection, DType type);

}  // namespace ts::bench
