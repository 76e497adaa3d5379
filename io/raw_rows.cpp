#include "tallskinny/io/raw_rows.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ts::io {

RawElements::RawElements(hdf5::Node dataset, int descriptor, hdf5::Node::RawPieces pieces)
    : dataset_(std::move(dataset)), descriptor_(descriptor), pieces_(std::move(pieces)) {}

RawElements::RawElements(RawElements&& other) noexcept
    : dataset_(std::move(other.dataset_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      pieces_(std::move(other.pieces_)) {}

RawElements::~RawElements() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<RawElements> RawElements::of(const hdf5::Node& dataset, hdf5::Memory memory) {
  std::optional<hdf5::Node::RawPieces> pieces = dataset.raw_pieces(memory);
  if (!pieces) return std::nullopt;
  const int descriptor = ::open(dataset.storage().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;  // HDF5, which has the file open, reads it
  return RawElements(dataset, descriptor, std::move(*pieces));
}

void RawElements::read(std::uint64_t first, std::uint64_t bytes, void* out) const {
  for (auto* to = static_cast<char*>(out); bytes > 0;) {
    const std::uint64_t piece = first / pieces_.bytes, within = first % pieces_.bytes;
    const std::uint64_t count = std::min(bytes, pieces_.bytes - within);
    read_piece(pieces_.offsets[static_cast<std::size_t>(piece)] + within, count, to);
    to += count, first += count, bytes -= count;
  }
}

void RawElements::read_piece(std::uint64_t offset, std::uint64_t bytes, char* out) const {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;  // the system takes less than 2 GiB at a time
  for (std::uint64_t done = 0; done < bytes;) {
    const auto got =
        ::pread(descriptor_, out + done, std::min(most, bytes - done), static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) dataset_.refuse("cannot be read: " + std::generic_category().message(errno));
    if (got == 0) dataset_.refuse("cannot be read: it is damaged or truncated (the file ends within it)");
    done += static_cast<std::uint64_t>(got);
  }
}

}  // namespace ts::io
