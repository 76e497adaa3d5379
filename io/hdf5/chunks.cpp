// Finds the places of a dataset's elements and chunks in its file.
#include <algorithm>
#include <limits>
#include <utility>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/node.hpp"
#include "tallskinny/io/hdf5/reader.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

std::optional<RawElements> RawElements::of(const Node& dataset, MemoryType memory) {
  std::optional<Node::RawPieces> pieces = dataset.raw_pieces(memory);
  if (!pieces || pieces->bytes == 0) return std::nullopt;
  try {
    return RawElements(dataset.name(), dataset.bytes(), std::move(*pieces));
  } catch (const Error&) {
    return std::nullopt;  // HDF5, which has the file open, reads it
  }
}

void RawElements::refuse(const std::string& cause) const { io::refuse(name_, joined("cannot be read: ", cause)); }

void RawElements::read(std::uint64_t first, std::uint64_t bytes, void* out) const {
  for (auto* to = static_cast<std::byte*>(out); bytes > 0;) {
    const std::uint64_t piece = first / pieces_.bytes, within = first % pieces_.bytes;
    const std::uint64_t count = std::min(bytes, pieces_.bytes - within);
    std::size_t got = 0;
    if (piece < pieces_.offsets.size())
      got = file_->read(pieces_.offsets[static_cast<std::size_t>(piece)] + within, {to, count});
    if (got < count) refuse("it is damaged or truncated (the file ends within it)");
    to += count, first += count, bytes -= count;
  }
}

namespace {

#if H5_VERSION_GE(1, 10, 5)
/// HDF5 1.10 walks all chunks for each.
Node::StoredChunk listed_place_of(hid_t id, const hsize_t* at) {
  Node::StoredChunk chunk;
  haddr_t offset = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (H5Dget_chunk_info_by_coord(id, at, &chunk.skipped, &offset, &bytes) < 0 || offset == HADDR_UNDEF) return chunk;
  chunk.offset = offset, chunk.bytes = bytes;
  return chunk;
}

/// Finds one chunk in its index: HDF5 reads its raw bytes, and the driver records from where.
Node::StoredChunk place_of(hid_t id, const hsize_t* at) {
  Node::StoredChunk chunk;
  // Where a chunk was never written HDF5 1.10 gives a size of 0, later releases an error.
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(id, at, &bytes) < 0 || bytes == 0) return chunk;
  const Capture capture;
  std::uint32_t mask = 0;
  char nothing = 0;
  if (H5Dread_chunk(id, H5P_DEFAULT, at, &mask, &nothing) < 0 || capture.readings != 1 || capture.bytes != bytes)
    return chunk;
  chunk.offset = capture.offset, chunk.bytes = bytes, chunk.skipped = mask;
  return chunk;
}
#endif

}  // namespace

index_t Node::chunk_rows() const {
  if (remote_) return remote_->ask<&Node::chunk_rows>();
  const Quiet quiet;
  const Handle creation = own_properties(H5Dget_create_plist(object_->id()));
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return 0;
  hsize_t sizes[H5S_MAX_RANK] = {};
  return H5Pget_chunk(creation.id(), H5S_MAX_RANK, sizes) < 1 ? 0 : static_cast<index_t>(sizes[0]);
}

std::optional<Node::RawPieces> Node::raw_pieces(MemoryType memory) const {
  if (remote_) return remote_->ask<&Node::raw_pieces>(memory);
  const Quiet quiet;
  const hid_t id = object_->id();
  const Handle type = own_type(H5Dget_type(id)), wanted = memory_type(type.id(), memory);
  const Handle creation = own_properties(H5Dget_create_plist(id)), space = own_space(H5Dget_space(id));
  if (H5Tequal(type.id(), wanted.id()) <= 0 || H5Pget_external_count(creation.id()) != 0 ||
      H5Pget_nfilters(creation.id()) != 0)
    return std::nullopt;
  // HDF5 does not document whether offsets count a user block at the start of the file: such files are not read raw.
  const Handle file = own_file(H5Iget_file_id(id));
  const Handle file_creation = own_properties(H5Fget_create_plist(file.id()));
  hsize_t user_block = 0;
  if (H5Pget_userblock(file_creation.id(), &user_block) < 0 || user_block != 0) return std::nullopt;
  if (H5Pget_layout(creation.id()) == H5D_CONTIGUOUS) {
    const haddr_t offset = H5Dget_offset(id);
    const auto points = static_cast<hsize_t>(H5Sget_simple_extent_npoints(space.id()));
    if (offset == HADDR_UNDEF || H5Dget_storage_size(id) / H5Tget_size(type.id()) < points) return std::nullopt;
    return RawPieces{std::numeric_limits<std::uint64_t>::max(), {static_cast<std::uint64_t>(offset)}};
  }
#if H5_VERSION_GE(1, 10, 5)
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED || rank < 1) return std::nullopt;
  std::vector<hsize_t> size(static_cast<std::size_t>(rank)), chunk(size.size()), at(size.size());
  H5Sget_simple_extent_dims(space.id(), size.data(), nullptr);
  if (H5Pget_chunk(creation.id(), rank, chunk.data()) != rank || chunk[0] == 0 ||
      !std::equal(size.begin() + 1, size.end(), chunk.begin() + 1))
    return std::nullopt;
  RawPieces pieces{H5Tget_size(type.id()), {}};
  for (const hsize_t c : chunk) pieces.bytes *= c;
  for (; at[0] < size[0]; at[0] += chunk[0]) {
    const StoredChunk there = bytes_ ? place_of(id, at.data()) : listed_place_of(id, at.data());
    if (there.bytes == 0 || there.bytes < pieces.bytes) return std::nullopt;
    pieces.offsets.push_back(there.offset);
    if (at[0] > size[0] - std::min(size[0], chunk[0])) break;  // the next one might overflow
  }
  return pieces;
#else
  return std::nullopt;
#endif
}

std::optional<Node::ChunkGrid> Node::chunk_grid(MemoryType memory) const {
  if (remote_) return remote_->ask<&Node::chunk_grid>(memory);
#if H5_VERSION_GE(1, 10, 3)
  const Quiet quiet;
  const hid_t id = object_->id();
  const Handle type = own_type(H5Dget_type(id)), wanted = memory_type(type.id(), memory);
  const Handle creation = own_properties(H5Dget_create_plist(id)), space = own_space(H5Dget_space(id));
  hsize_t chunk[2] = {};
  if (H5Tequal(type.id(), wanted.id()) <= 0 || H5Sget_simple_extent_ndims(space.id()) != 2 ||
      H5Pget_layout(creation.id()) != H5D_CHUNKED || H5Pget_chunk(creation.id(), 2, chunk) != 2)
    return std::nullopt;
  ChunkGrid grid{static_cast<index_t>(chunk[0]), static_cast<index_t>(chunk[1]), H5Tget_size(type.id()), {}};
  const int filters = H5Pget_nfilters(creation.id());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    switch (H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr)) {
      case H5Z_FILTER_DEFLATE: grid.filters.push_back(Filter::deflate); break;
      case H5Z_FILTER_SHUFFLE: grid.filters.push_back(Filter::shuffle); break;
      case lzf_number: grid.filters.push_back(Filter::lzf); break;
      default: return std::nullopt;
    }
  }
  return grid;
#else
  (void)memory;
  return std::nullopt;
#endif
}

bool Node::read_chunk(index_t row, index_t col, std::vector<char>& stored, unsigned& skipped) const {
  if (remote_) return remote_->read_chunk(*this, row, col, stored, skipped);
#if H5_VERSION_GE(1, 10, 3)
  const Quiet quiet;
  const hsize_t at[2] = {static_cast<hsize_t>(row), static_cast<hsize_t>(col)};
  const auto fail = [&] { refuse("cannot be read: " + cause_of_failure("it is damaged or truncated")); };
  // Where a chunk was never written HDF5 1.10 gives a size of 0, later releases an error.
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(object_->id(), at, &bytes) < 0 || bytes == 0) return false;
  stored.resize(static_cast<std::size_t>(bytes));
  std::uint32_t mask = 0;
  if (H5Dread_chunk(object_->id(), H5P_DEFAULT, at, &mask, stored.data()) < 0) fail();
  skipped = mask;
  return true;
#else
  (void)row, (void)col, (void)stored, (void)skipped;
  return false;
#endif
}

std::vector<Node::StoredChunk> Node::chunk_places(index_t row, index_t col, index_t count) const {
  if (remote_) return remote_->ask<&Node::chunk_places>(row, col, count);
  std::vector<StoredChunk> places;
#if H5_VERSION_GE(1, 10, 5)
  const Quiet quiet;
  const Handle creation = own_properties(H5Dget_create_plist(object_->id()));
  const Handle space = own_space(H5Dget_space(object_->id()));
  hsize_t chunk[2] = {}, size[2] = {};
  if (H5Sget_simple_extent_ndims(space.id()) != 2 || H5Pget_chunk(creation.id(), 2, chunk) != 2) return places;
  H5Sget_simple_extent_dims(space.id(), size, nullptr);
  hsize_t at[2] = {static_cast<hsize_t>(row), static_cast<hsize_t>(col)};
  for (; count > 0 && at[0] < size[0]; --count) {
    StoredChunk there = place_of(object_->id(), at);
    there.row = static_cast<index_t>(at[0]), there.col = static_cast<index_t>(at[1]);
    places.push_back(there);
    if ((at[1] += chunk[1]) >= size[1]) at[1] = 0, at[0] += chunk[0];
  }
#endif
  return places;
}

}  // namespace ts::inline v0::io::hdf5
