// Datasets and attributes written into an open HDF5 file; the layer under OutputFile.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/io/hdf5/node.hpp"

namespace ts::inline v0::io::hdf5 {

class Writer {
 public:
  /// Writes into a file that its caller has made. `user_block`: bytes before what HDF5 writes, a power of two
  /// from 512 on, or 0. @throws Error(io_failure).
  Writer(const std::filesystem::path& file, std::string shown_name, int gzip, std::size_t user_block = 0);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// A dataset of one or two dimensions, filled by write_rows.
  [[nodiscard]] Handle create(std::string_view object, MemoryType type, const std::vector<index_t>& dims);
  /// Rows begin .. begin + count - 1, contiguous in memory.
  void write_rows(const Handle& dataset, std::string_view object, MemoryType type, index_t begin, index_t count,
                  const void* data);
  /// Closes a dataset that is whole. @throws Error(io_failure): closing writes what HDF5 has kept back.
  void finish(Handle&& dataset, std::string_view object);
  void write_text(std::string_view object, std::string_view text);
  void write_scalar(std::string_view object, MemoryType type, const void* value);
  /// A group and those above it; nothing if it is there.
  void create_group(std::string_view object);
  void text_attribute(std::string_view object, std::string_view name, std::string_view text);
  void scalar_attribute(std::string_view object, std::string_view name, MemoryType type, const void* value);
  /// Writes out what HDF5 keeps in memory and closes the file.
  void close();

 private:
  [[noreturn]] void fail(std::string_view object);
  void abandon();
  [[nodiscard]] Handle create_dataset(std::string_view object, std::int64_t type, std::int64_t space,
                                      const Handle& creation);
  void write_one(std::string_view object, const Handle& type, const void* value);
  void attribute(std::string_view object, std::string_view name, const Handle& type, const void* value);
  [[nodiscard]] Handle open_object(std::string_view object) const;

  std::string name_;
  int gzip_;
  bool failed_ = false;  ///< a write failed: HDF5 cannot close the file any more
  Handle file_;
};

}  // namespace ts::inline v0::io::hdf5
