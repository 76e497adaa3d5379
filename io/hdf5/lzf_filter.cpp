// LZF, HDF5's filter 32000: the other compression of h5py and AnnData beside gzip. Only reading; the format
// is that of Marc Lehmann's LibLZF.
#include <algorithm>
#include <cstring>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/node.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

/// Walks the pieces of a compressed chunk: literal(from, count) and repeat(distance, count), each of which
/// may refuse. False for a chunk that ends inside a piece.
template <class Literal, class Repeat>
bool walk(const unsigned char* in, std::size_t bytes, Literal literal, Repeat repeat) {
  const unsigned char* const end = in + bytes;
  while (in < end) {
    const std::size_t control = *in++;
    if (control < 32) {
      const std::size_t count = control + 1;
      if (static_cast<std::size_t>(end - in) < count || !literal(in, count)) return false;
      in += count;
      continue;
    }
    std::size_t count = (control >> 5) + 2;
    if (count == 9 && in < end) count += *in++;
    if (in == end) return false;
    if (!repeat(((control & 31) << 8) + *in++ + 1, count)) return false;
  }
  return true;
}

/// Bytes that come out; 0 for a damaged chunk.
std::size_t expanded_size(const unsigned char* in, std::size_t bytes) {
  std::size_t size = 0;
  const bool whole = walk(
      in, bytes, [&size](const unsigned char*, std::size_t n) { return size += n, true; },
      [&size](std::size_t distance, std::size_t n) { return distance <= size && (size += n, true); });
  return whole ? size : 0;
}

/// The signature of an HDF5 filter: the size of what comes out, 0 for failure. `settings` are h5py's: two
/// versions and the size of a whole chunk, which HDF5 takes from the buffer without looking at our result.
std::size_t expand(unsigned flags, std::size_t count, const unsigned* settings, std::size_t bytes,
                   std::size_t* buffer_bytes, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0) return 0;
  const std::size_t size = expanded_size(static_cast<const unsigned char*>(*buffer), bytes);
  if (size == 0) return 0;
  const std::size_t room = std::max<std::size_t>(size, count > 2 ? settings[2] : 0);
  auto* const out = static_cast<char*>(H5allocate_memory(room, true));
  if (out == nullptr) return 0;
  (void)expand_lzf({static_cast<const char*>(*buffer), bytes}, {out, room});
  H5free_memory(*buffer);
  *buffer = out, *buffer_bytes = room;
  return size;
}

}  // namespace

std::size_t expand_lzf(std::span<const char> in, std::span<char> out) noexcept {
  const auto* const from = reinterpret_cast<const unsigned char*>(in.data());
  const std::size_t size = expanded_size(from, in.size());
  if (size == 0 || size > out.size()) return 0;
  char* at = out.data();
  walk(
      from, in.size(),
      [&at](const unsigned char* literal, std::size_t n) {
        std::memcpy(at, literal, n);
        return at += n, true;
      },
      [&at](std::size_t distance, std::size_t n) {
        for (; n > 0; --n, ++at) *at = *(at - distance);  // may run into what it writes
        return true;
      });
  return size;
}

void register_lzf() {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, lzf_number, 0, 1, "lzf", nullptr, nullptr, expand};
  H5Zregister(&filter);
}

}  // namespace ts::inline v0::io::hdf5
