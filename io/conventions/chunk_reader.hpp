// Dense elements in compressed chunks: HDF5 fetches chunks as they are stored, several threads expand them.
#pragma once

#include <functional>
#include <optional>

#include "tallskinny/io/hdf5/node.hpp"

namespace ts::inline v0::io {

/// The rows of a two-dimensional dataset in chunks, all filters of which are known here.
class ChunkReader {
 public:
  /// Nothing where HDF5 has to read this dataset.
  [[nodiscard]] static std::optional<ChunkReader> of(const hdf5::Node& dataset, hdf5::MemoryType memory);

  /// Rows begin .. end - 1 of `cols` elements each, contiguous. done(first row, end of rows, where they are)
  /// is called by some thread for rows that are there. One call at a time.
  /// @throws Error(bad_input) for damaged chunks, and what done() throws: of the first rows where that
  /// happened.
  void read(index_t begin, index_t end, index_t cols, void* out,
            const std::function<void(index_t, index_t, char*)>& done) const;

 private:
  struct Team;
  ChunkReader(hdf5::Node dataset, hdf5::MemoryType memory, hdf5::Node::ChunkGrid grid)
      : dataset_(std::move(dataset)), memory_(memory), grid_(std::move(grid)) {}
  void fetch(index_t block, Team& team, std::vector<std::vector<char>>& stored, std::vector<unsigned>& skipped) const;
  void expand(std::vector<char>& stored, unsigned skipped, std::vector<char>& spare) const;

  hdf5::Node dataset_;
  hdf5::MemoryType memory_;
  hdf5::Node::ChunkGrid grid_;
};

}  // namespace ts::inline v0::io
