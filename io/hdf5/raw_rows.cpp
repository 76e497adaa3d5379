#include "tallskinny/io/hdf5/raw_rows.hpp"

#include <algorithm>
#include <utility>

namespace ts::inline v0::io {

std::optional<RawElements> RawElements::of(const hdf5::Node& dataset, hdf5::MemoryType memory) {
  std::optional<hdf5::Node::RawPieces> pieces = dataset.raw_pieces(memory);
  if (!pieces || pieces->bytes == 0) return std::nullopt;
  try {
    return RawElements(dataset.name(), dataset.bytes(), std::move(*pieces));
  } catch (const Error&) {
    return std::nullopt;  // HDF5, which has the file open, reads it
  }
}

void RawElements::refuse(const std::string& cause) const {
  throw Error(Errc::bad_input, name_ + " cannot be read: " + cause);
}

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

}  // namespace ts::inline v0::io
