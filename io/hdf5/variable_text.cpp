// Variable-length strings without HDF5's own reader of the global heap: in 1.10 that one trusts the sizes it
// finds and crashes on a damaged file. HDF5 hands over the reference (length, heap address, index) through a
// conversion to an opaque type that is registered here; the heap is then read from the file, bounds checked.
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "tallskinny/io/hdf5/h5.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

constexpr const char* reference_tag = "tallskinny: reference to a variable-length string";
constexpr std::uint64_t largest_heap = std::uint64_t{64} << 20;

/// HDF5 also tells how many there are and where.
template <class... Unused>
herr_t keep_reference(hid_t from, hid_t to, H5T_cdata_t* state, Unused...) {
  if (state->command != H5T_CONV_INIT) return 0;  // the bytes stay what they are
  state->need_bkg = H5T_BKG_NO;
  if (H5Tis_variable_str(from) <= 0 || H5Tget_class(to) != H5T_OPAQUE) return -1;
  char* tag = H5Tget_tag(to);
  const bool ours = tag != nullptr && std::strcmp(tag, reference_tag) == 0;
  H5free_memory(tag);
  return ours ? 0 : -1;
}

Handle reference_type() {
  Handle type = own_type(H5Tcreate(H5T_OPAQUE, reference_bytes));
  H5Tset_tag(type.id(), reference_tag);
  return type;
}

std::uint64_t number(const unsigned char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

Handle registered_reference_type() {
  static std::once_flag once;
  std::call_once(once, [] {
    const Handle text = own_type(H5Tcopy(H5T_C_S1)), reference = reference_type();
    H5Tset_size(text.id(), H5T_VARIABLE);
    H5Tregister(H5T_PERS_SOFT, "text to reference", text.id(), reference.id(), keep_reference);
  });
  return reference_type();
}

std::optional<std::string> text_behind(const Reference& reference, hid_t object, const FileBytes& file) {
  const std::uint64_t length = number(reference.data(), 4), address = number(reference.data() + 4, 8),
                      index = number(reference.data() + 12, 4);
  if (length == 0 || address == 0) return "";

  const Handle owner = own_file(H5Iget_file_id(object));
  const Handle creation = own_properties(H5Fget_create_plist(owner.id()));
  hsize_t before = 0;
  std::size_t address_bytes = 0, size_bytes = 0;
  H5Pget_userblock(creation.id(), &before);
  H5Pget_sizes(creation.id(), &address_bytes, &size_bytes);
  if (address_bytes != 8 || size_bytes != 8) return std::nullopt;

  const std::uint64_t at_heap = before + address;
  std::array<unsigned char, 16> head{};
  if (at_heap > file.size() || file.read(at_heap, std::as_writable_bytes(std::span(head))) != head.size())
    return std::nullopt;
  const std::uint64_t heap_bytes = number(head.data() + 8, 8);
  if (std::memcmp(head.data(), "GCOL", 4) != 0 || heap_bytes < head.size() ||
      heap_bytes > std::min(largest_heap, file.size()))
    return std::nullopt;
  std::vector<unsigned char> heap(heap_bytes - head.size());
  if (file.read(at_heap + head.size(), std::as_writable_bytes(std::span(heap))) != heap.size()) return std::nullopt;
  // Objects: number (2 bytes), references (2), nothing (4), size (8), content up to a multiple of 8.
  for (std::uint64_t at = 0; heap.size() - at >= 16;) {
    const std::uint64_t which = number(heap.data() + at, 2), bytes = number(heap.data() + at + 8, 8);
    at += 16;
    if (which == 0 || bytes > heap.size() - at) return std::nullopt;
    if (which == index) {
      const std::string text(reinterpret_cast<const char*>(heap.data() + at), std::min(bytes, length));
      return text.substr(0, text.find('\0'));
    }
    at += std::min((bytes + 7) / 8 * 8, heap.size() - at);
  }
  return std::nullopt;
}

}  // namespace ts::inline v0::io::hdf5
