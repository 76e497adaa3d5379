// Dense elements that lie in their file as they will in memory: read beside HDF5, by several threads.
#pragma once

#include <optional>

#include "tallskinny/io/hdf5/node.hpp"

namespace ts::inline v0::io {

/// The elements of a dataset that is neither filtered nor converted, in the order of its dimensions.
class RawElements {
 public:
  /// Nothing where HDF5 has to read this dataset.
  [[nodiscard]] static std::optional<RawElements> of(const hdf5::Node& dataset, hdf5::MemoryType memory);

  /// `bytes` bytes from byte `first` of the elements on; any number of threads at a time.
  /// @throws Error(bad_input) for a truncated file and for a disk that fails.
  void read(std::uint64_t first, std::uint64_t bytes, void* out) const;

 private:
  RawElements(std::string name, std::shared_ptr<const FileBytes> file, hdf5::Node::RawPieces pieces)
      : name_(std::move(name)), file_(std::move(file)), pieces_(std::move(pieces)) {}
  [[noreturn]] void refuse(const std::string& cause) const;

  std::string name_;  ///< of the dataset
  std::shared_ptr<const FileBytes> file_;
  hdf5::Node::RawPieces pieces_;
};

}  // namespace ts::inline v0::io
