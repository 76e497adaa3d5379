// Results in NumPy's format that are either complete or not there.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::io {

class NewFile;

/// Writes an .npy file (version 1.0, C order, little endian) under a temporary name in the target's folder, row after
/// row. commit() syncs it to the disk and renames it; without commit the destructor removes it and the target stays as
/// it was. T: any of the six types, int32 or int64; one that NumPy has no name for as V2, as it is read.
/// @throws Error(io_failure) with the path and the cause, from every call.
template <class T>
class NpyOutput {
 public:
  /// rows x cols; cols -1: a list.
  NpyOutput(const std::filesystem::path& target, index_t rows, index_t cols = -1);
  NpyOutput(NpyOutput&&) noexcept = default;
  NpyOutput& operator=(NpyOutput&&) noexcept = default;

  /// The next elements. @throws Error(invalid_argument) for more than there are.
  void add(std::span<const T> values);
  /// @throws Error(invalid_argument) where elements are missing.
  void commit();

 private:
  std::shared_ptr<NewFile> file_;
  std::size_t missing_;
};

}  // namespace ts::inline v0::io
