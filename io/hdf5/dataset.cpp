// Shapes, element types and elements of datasets.
#include <algorithm>
#include <limits>

#include "tallskinny/io/elements.hpp"
#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/reader.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

std::string order_prefix(hid_t type) {
  return H5Tget_size(type) > 1 && H5Tget_order(type) == H5T_ORDER_BE ? "big-endian " : "";
}

ElementType classify_float(hid_t type) {
  ElementType t{ElementType::Kind::real, "", DType::float64};
  const std::size_t bytes = H5Tget_size(type);
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits);
  t.text = order_prefix(type);
  for (const DType known : every_dtype)
    if (parts_of(known) == 1 && bytes == size_of(known) && mantissa_bits == mantissa_bits_of(known) &&
        exponent_bits + mantissa_bits + 1 == 8 * bytes) {
      t.text += name_of(known), t.read_as = known;
      return t;
    }
  t.text += std::to_string(1 + exponent_bits + mantissa_bits) + "-bit float";
  if (mantissa_bits <= 23 && exponent_bits <= 8) t.read_as = DType::float32;
  return t;
}

ElementType classify(hid_t type) {
  const auto other = [](std::string text) { return ElementType{ElementType::Kind::other, std::move(text), {}}; };
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return {ElementType::Kind::integer,
              joined(order_prefix(type), H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int", 8 * H5Tget_size(type)),
              DType::float64};
    case H5T_FLOAT: return classify_float(type);
    case H5T_ENUM: {
      const bool boolean = H5Tget_nmembers(type) == 2 && H5Tget_size(type) == 1;
      return {ElementType::Kind::integer, boolean ? "bool" : "enumeration", DType::float64};
    }
    case H5T_COMPOUND: {
      if (H5Tget_nmembers(type) != 2) return other("a compound");
      const Handle re = own_type(H5Tget_member_type(type, 0)), im = own_type(H5Tget_member_type(type, 1));
      if (H5Tget_class(re.id()) != H5T_FLOAT || H5Tequal(re.id(), im.id()) <= 0) return other("a compound");
      const ElementType part = classify_float(re.id());
      return {ElementType::Kind::complex, "complex of " + part.text, complex_dtype(part.read_as)};
    }
    case H5T_ARRAY: {
      const Handle base = own_type(H5Tget_super(type));
      return classify(base.id());
    }
    case H5T_STRING: return other("strings");
    case H5T_REFERENCE: return other("references");
    case H5T_VLEN: return other("ragged (variable-length) rows");
    case H5T_OPAQUE: return other("opaque bytes");
    case H5T_BITFIELD: return other("bit fields");
    default: return other("times or an unknown type");
  }
}

/// Sizes of an array type, outermost first; {} for any other.
std::vector<index_t> array_dims(hid_t type) {
  std::vector<index_t> dims;
  if (H5Tget_class(type) != H5T_ARRAY) return dims;
  std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(H5Tget_array_ndims(type), 0)));
  if (!sizes.empty() && H5Tget_array_dims2(type, sizes.data()) >= 0)
    for (const hsize_t size : sizes) dims.push_back(static_cast<index_t>(size));
  return dims;
}

Handle member_type(hid_t stored, MemoryType memory, const std::string& member) {
  const int at = H5Tget_member_index(stored, member.c_str());
  if (at < 0) return {};
  const Handle in_file = own_type(H5Tget_member_type(stored, static_cast<unsigned>(at)));
  const Handle in_memory = memory_type(in_file.id(), memory);
  Handle compound = own_type(H5Tcreate(H5T_COMPOUND, H5Tget_size(in_memory.id())));
  H5Tinsert(compound.id(), member.c_str(), 0, in_memory.id());
  return compound;
}

std::string filter_name(H5Z_filter_t id, const char* stored_name) {
  switch (id) {
    case 307: return "bzip2";
    case 32000: return "LZF";
    case 32001: return "Blosc";
    case 32004: return "LZ4";
    case 32008: return "bitshuffle";
    case 32013: return "ZFP";
    case 32015: return "Zstandard";
    case 32026: return "Blosc2";
    default: return *stored_name != '\0' ? stored_name : "unnamed";
  }
}

}  // namespace

Handle scalar_type(MemoryType memory) {
  if (memory == MemoryType::int32) return own_type(H5Tcopy(H5T_NATIVE_INT32));
  if (memory == MemoryType::int64) return own_type(H5Tcopy(H5T_NATIVE_INT64));
  const auto type = static_cast<DType>(memory);
  if (scalar_bytes(type) == 2) return sixteen_bit_float(mantissa_bits_of(type));
  return own_type(H5Tcopy(scalar_bytes(type) == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE));
}

/// The memory form of elements stored as `stored`: complex compounds keep the file's member names, because
/// HDF5 matches members by name.
Handle memory_type(hid_t stored, MemoryType memory) {
  if (H5Tget_class(stored) == H5T_ARRAY) {
    const Handle base = own_type(H5Tget_super(stored));
    const Handle element = memory_type(base.id(), memory);
    std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(H5Tget_array_ndims(stored), 0)));
    H5Tget_array_dims2(stored, sizes.data());
    return own_type(H5Tarray_create2(element.id(), static_cast<unsigned>(sizes.size()), sizes.data()));
  }
  Handle scalar = scalar_type(memory);
  if (H5Tget_class(stored) == H5T_INTEGER && H5Tget_size(scalar.id()) == 2)
    return own_type(H5Tcopy(H5T_NATIVE_UINT16));  // bits of a 16-bit float kept in an integer
  if (H5Tget_class(stored) != H5T_COMPOUND) return scalar;
  const std::size_t part = H5Tget_size(scalar.id());
  Handle complex = own_type(H5Tcreate(H5T_COMPOUND, 2 * part));
  for (unsigned i = 0; i < 2; ++i) {
    char* name = H5Tget_member_name(stored, i);
    H5Tinsert(complex.id(), name, i * part, scalar.id());
    H5free_memory(name);
  }
  return complex;
}

std::optional<std::vector<index_t>> Node::dims() const {
  if (remote_) return remote_->ask<&Node::dims>();
  const Quiet quiet;
  const Handle space = own_space(H5Dget_space(object_->id())), type = own_type(H5Dget_type(object_->id()));
  if (!space || H5Sget_simple_extent_type(space.id()) == H5S_NULL) return std::nullopt;
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 0) refuse("has a damaged shape (" + last_error() + ")");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  std::vector<index_t> dims;
  for (const hsize_t size : sizes) {
    if (size > static_cast<hsize_t>(std::numeric_limits<index_t>::max()))
      refuse(joined("has a dimension of ", size, " entries, more than 2^63"));
    dims.push_back(static_cast<index_t>(size));
  }
  const auto inner = array_dims(type.id());
  if (rank == 0 && !inner.empty()) dims.push_back(1);
  dims.insert(dims.end(), inner.begin(), inner.end());
  return dims;
}

ElementType Node::element_type() const {
  if (remote_) return remote_->ask<&Node::element_type>();
  const Quiet quiet;
  const Handle type = own_type(H5Dget_type(object_->id()));
  return classify(type.id());
}

std::vector<Node::Member> Node::members() const {
  if (remote_) return remote_->ask<&Node::members>();
  const Quiet quiet;
  std::vector<Member> members;
  const Handle type = own_type(H5Dget_type(object_->id()));
  if (H5Tget_class(type.id()) != H5T_COMPOUND) return members;
  for (int i = 0; i < H5Tget_nmembers(type.id()); ++i) {
    const Handle member = own_type(H5Tget_member_type(type.id(), static_cast<unsigned>(i)));
    char* name = H5Tget_member_name(type.id(), static_cast<unsigned>(i));
    Member m{name != nullptr ? name : "", classify(member.id()), 1};
    H5free_memory(name);
    for (const index_t size : array_dims(member.id())) m.width *= size;
    members.push_back(std::move(m));
  }
  return members;
}

std::vector<Node::UsedFilter> Node::filters() const {
  if (remote_) return remote_->filters();
  const Quiet quiet;
  std::vector<UsedFilter> used;
  const Handle creation = own_properties(H5Dget_create_plist(object_->id()));
  const int filters = H5Pget_nfilters(creation.id());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    char name[64] = "";
    const H5Z_filter_t id =
        H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &values, nullptr, sizeof name, name, nullptr);
    if (id > 0) used.push_back({id, filter_name(id, name), H5Zfilter_avail(id) > 0});
  }
  return used;
}

void Node::require_readable() const {
  for (const UsedFilter& filter : filters())
    if (!filter.available)
      refuse(joined("is compressed with HDF5 filter ", filter.number, " (", filter.name,
                    "), which is not installed here: set HDF5_PLUGIN_PATH to the folder of its plugin"));
}

void Node::read(index_t begin, index_t end, MemoryType memory, std::span<std::byte> out,
                const std::string& member) const {
  if (begin == end) return;
  if (remote_) return remote_->read(*this, begin, end, memory, out, member);
  require_written({begin, end});
  const Quiet quiet;
  const auto fail = [&] { refuse("cannot be read: " + cause_of_failure("it is damaged or truncated")); };
  const Handle stored = own_type(H5Dget_type(object_->id()));
  const Handle type = member.empty() ? memory_type(stored.id(), memory) : member_type(stored.id(), memory, member);
  const Handle space = own_space(H5Dget_space(object_->id()));
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (!type || rank < 0) fail();
  std::vector<hsize_t> count(static_cast<std::size_t>(std::max(rank, 1)), 1), start(count.size(), 0);
  if (rank > 0) {
    H5Sget_simple_extent_dims(space.id(), count.data(), nullptr);
    start[0] = static_cast<hsize_t>(begin), count[0] = static_cast<hsize_t>(end - begin);
    if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0) fail();
  }
  std::uint64_t bytes = H5Tget_size(type.id());
  for (const hsize_t c : count)
    if (__builtin_mul_overflow(bytes, c, &bytes)) fail();
  if (bytes != out.size()) refuse(joined("has elements of ", bytes, " bytes where ", out.size(), " are wanted"));
  if (bytes == 0) return;
  const Handle target = own_space(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
  const Handle transfer = own_properties(H5Pcreate(H5P_DATASET_XFER));
  H5Pset_buffer(transfer.id(), std::size_t{1} << 20, nullptr,
                nullptr);  // the default of 64 KiB costs a third
  if (H5Dread(object_->id(), type.id(), target.id(), space.id(), transfer.id(), out.data()) < 0) fail();
}

}  // namespace ts::inline v0::io::hdf5
