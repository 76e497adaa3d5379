// Tables of results for other programs: .npy, or text that every spreadsheet reads.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::io {

/// True if TableOutput writes the format that a file's ending names: .npy or .csv.
[[nodiscard]] bool is_table_name(std::string_view file) noexcept;

/// Writes a table row after row, as .npy or as .csv with a line of names, by the ending of the target. A file is
/// written under another name in the target's folder; commit() syncs and renames it, and without commit the target
/// stays as it was. Numbers in text are the shortest that read as the same number; a complex one takes two columns,
/// NAME_real and NAME_imag. T: any of the six types, int32 or int64.
/// @throws Error(io_failure) with the path and the cause, from every call.
template <class T>
class TableOutput {
 public:
  /// @param names of the columns, one for a list; fewer: the last one counts on, as x0, x1, ...
  /// @param cols -1: a list
  TableOutput(const std::filesystem::path& target, index_t rows, index_t cols, std::vector<std::string> names);
  /// Writes text to a stream, row by row.
  TableOutput(std::ostream& text, index_t rows, index_t cols, std::vector<std::string> names);
  TableOutput(TableOutput&&) noexcept = default;
  TableOutput& operator=(TableOutput&&) noexcept = default;

  /// The next elements. @throws Error(invalid_argument) for more than there are.
  void add(std::span<const T> values);
  /// @throws Error(invalid_argument) where elements are missing.
  void commit();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ts::inline v0::io
