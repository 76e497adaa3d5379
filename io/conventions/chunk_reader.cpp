#include "tallskinny/io/conventions/chunk_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/hdf5/node.hpp"
#include "tallskinny/io/memory.hpp"

namespace ts::inline v0::io {

using hdf5::Filter;

/// State shared by threads that read one dataset together.
struct ChunkReader::Team {
  index_t begin, end, cols;
  char* out;
  std::mutex of_hdf5;  ///< which is used by one thread at a time
  index_t next = 0;    ///< block of rows that nobody has taken
  index_t failed = INT64_MAX;
  std::exception_ptr failure;
};

std::optional<ChunkReader> ChunkReader::of(const hdf5::Node& dataset, hdf5::MemoryType memory) {
  std::optional<hdf5::Node::ChunkGrid> grid = dataset.chunk_grid(memory);
  if (!grid) return std::nullopt;
  return ChunkReader(dataset, memory, std::move(*grid));
}

namespace {

/// HDF5's shuffle puts the first bytes of all elements first, and so on; bytes behind the last element stay.
void unshuffle(const std::vector<char>& from, std::size_t element, std::vector<char>& to) {
  to.resize(from.size());
  const std::size_t count = from.size() / element;
  for (std::size_t b = 0; b < element; ++b)
    for (std::size_t i = 0; i < count; ++i) to[i * element + b] = from[b * count + i];
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(count * element), from.end(),
            to.begin() + static_cast<std::ptrdiff_t>(count * element));
}

bool inflate_all(const std::vector<char>& from, std::vector<char>& to) {
  uLongf bytes = static_cast<uLongf>(to.size());
  const int code = uncompress(reinterpret_cast<Bytef*>(to.data()), &bytes, reinterpret_cast<const Bytef*>(from.data()),
                              static_cast<uLong>(from.size()));
  return code == Z_OK && bytes == to.size();
}

}  // namespace

/// Undoes the filters, the last one first.
void ChunkReader::expand(std::vector<char>& stored, unsigned skipped, std::vector<char>& spare) const {
  const auto damaged = [&] { dataset_.refuse("cannot be read: it is damaged (a chunk does not expand to its size)"); };
  for (std::size_t f = grid_.filters.size(); f-- > 0;) {
    if ((skipped >> f & 1) != 0) continue;
    if (grid_.filters[f] == Filter::shuffle) {
      unshuffle(stored, grid_.element_bytes, spare);
    } else {
      // Neither filter makes more of a byte than zlib, so memory is taken for nothing that cannot fill it.
      if (grid_.chunk_bytes() / best_deflate > stored.size()) damaged();
      spare.resize(grid_.chunk_bytes());
      const bool whole = grid_.filters[f] == Filter::deflate ? inflate_all(stored, spare)
                                                             : hdf5::expand_lzf(stored, spare) == spare.size();
      if (!whole) damaged();
    }
    stored.swap(spare);
  }
  if (stored.size() != grid_.chunk_bytes()) damaged();
}

/// The chunks of a block of rows as they are stored; none if some were never written, and HDF5 has filled the
/// rows in.
void ChunkReader::fetch(index_t block, Team& team, std::vector<std::vector<char>>& stored,
                        std::vector<unsigned>& skipped) const {
  for (std::size_t c = 0; c < stored.size(); ++c)
    if (!dataset_.read_chunk(block * grid_.rows, static_cast<index_t>(c) * grid_.cols, stored[c], skipped[c])) {
      const index_t from = std::max(team.begin, block * grid_.rows), to = std::min(team.end, (block + 1) * grid_.rows);
      const index_t line = team.cols * static_cast<index_t>(grid_.element_bytes);
      dataset_.read(from, to, memory_,
                    {reinterpret_cast<std::byte*>(team.out + (from - team.begin) * line),
                     static_cast<std::size_t>((to - from) * line)});
      stored.clear();
      return;
    }
}

void ChunkReader::read(index_t begin, index_t end, index_t cols, void* out,
                       const std::function<void(index_t, index_t, char*)>& done) const {
  constexpr index_t most_threads = 16;
  if (begin == end) return;
  // Small ones are not counted, as other buffers are not.
  if (const std::uint64_t chunk = grid_.chunk_bytes(); chunk >= std::uint64_t{16} << 20)
    require_memory(product({2, static_cast<index_t>(chunk)}), 0, dataset_.name() + " (a chunk of it)");
  const index_t first = begin / grid_.rows, blocks = (end + grid_.rows - 1) / grid_.rows;
  const auto element = static_cast<index_t>(grid_.element_bytes), line = cols * element;
  const auto across = static_cast<std::size_t>((cols + grid_.cols - 1) / grid_.cols);
  Team team{begin, end, cols, static_cast<char*>(out), {}, first, INT64_MAX, {}};
  const auto work = [&] {
    std::vector<std::vector<char>> stored;
    std::vector<unsigned> skipped(across);
    std::vector<char> spare;
    for (;;) {
      index_t block = 0;
      try {
        stored.resize(across);
        {
          const std::lock_guard lock(team.of_hdf5);
          if (team.next >= blocks || team.failure) return;
          block = team.next++;
          fetch(block, team, stored, skipped);
        }
        const index_t top = block * grid_.rows, from = std::max(begin, top), to = std::min(end, top + grid_.rows);
        for (std::size_t c = 0; c < stored.size(); ++c) {
          expand(stored[c], skipped[c], spare);
          const index_t left = static_cast<index_t>(c) * grid_.cols, width = std::min(grid_.cols, cols - left);
          for (index_t i = from; i < to; ++i)
            std::memcpy(team.out + (i - begin) * line + left * element,
                        stored[c].data() + (i - top) * grid_.cols * element, static_cast<std::size_t>(width * element));
        }
        done(from, to, team.out + (from - begin) * line);
      } catch (...) {
        const std::lock_guard lock(team.of_hdf5);
        if (block < team.failed) team.failed = block, team.failure = std::current_exception();
        return;
      }
    }
  };
  parallel(static_cast<int>(std::min<index_t>({most_threads, default_threads(), blocks - first})),
           [&](int) { work(); });
  if (team.failure) std::rethrow_exception(team.failure);
}

}  // namespace ts::inline v0::io
