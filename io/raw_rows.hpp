// Dense elements that lie in their file as they will in memory: read beside HDF5, by several threads.
#pragma once

#include <optional>

#include "tallskinny/io/hdf5/node.hpp"

namespace ts::io {

/// The elements of a dataset that is neither filtered nor converted, in the order of its dimensions. An open
/// file; move-only.
class RawElements {
 public:
  /// Nothing where HDF5 has to read this dataset.
  [[nodiscard]] static std::optional<RawElements> of(const hdf5::Node& dataset, hdf5::Memory memory);
  RawElements(RawElements&& other) noexcept;
  RawElements& operator=(RawElements&&) = delete;
  RawElements(const RawElements&) = delete;
  RawElements& operator=(const RawElements&) = delete;
  ~RawElements();

  /// `bytes` bytes from byte `first` of the elements on; any number of threads at a time.
  /// @throws Error(bad_input) for a truncated file and for a disk that fails.
  void read(std::uint64_t first, std::uint64_t bytes, void* out) const;

 private:
  RawElements(hdf5::Node dataset, int descriptor, hdf5::Node::RawPieces pieces);
  void read_piece(std::uint64_t offset, std::uint64_t bytes, char* out) const;

  hdf5::Node dataset_;
  int descriptor_;
  hdf5::Node::RawPieces pieces_;
};

}  // namespace ts::io
