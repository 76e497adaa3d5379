#include "tallskinny/io/write/h5_writer.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

constexpr index_t chunk_bytes = index_t{1} << 20;

/// A complex number is stored as {r, i}, as h5py does.
Handle stored_type(MemoryType type) {
  Handle part = scalar_type(type);
  if (type >= MemoryType::int32 || parts_of(static_cast<DType>(type)) == 1) return part;
  Handle compound = own_type(H5Tcreate(H5T_COMPOUND, 2 * H5Tget_size(part.id())));
  H5Tinsert(compound.id(), "r", 0, part.id());
  H5Tinsert(compound.id(), "i", H5Tget_size(part.id()), part.id());
  return compound;
}

Handle text_type() {
  Handle type = own_type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

std::string absolute(std::string_view object) {
  return object.starts_with('/') ? std::string(object) : "/" + std::string(object);
}

/// The group that an object of this absolute name is in.
std::string parent_of(const std::string& path) { return path.substr(0, std::max<std::size_t>(1, path.rfind('/'))); }

/// Creation properties without time stamps, so that equal content makes equal files.
Handle timeless(std::int64_t kind) {
  Handle creation = own_properties(H5Pcreate(kind));
  H5Pset_obj_track_times(creation.id(), 0);
  return creation;
}

}  // namespace

Writer::Writer(const std::filesystem::path& file, std::string shown_name, int gzip, std::size_t user_block)
    : name_(std::move(shown_name)), gzip_(gzip) {
  start_library();
  const Quiet quiet;
  const Handle access = own_properties(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18,
                       H5F_LIBVER_V110);  // readable from HDF5 1.8 on where possible
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.id(), 1, 1);  // where the file system knows locks
#endif
  const Handle creation = timeless(H5P_FILE_CREATE);
  H5Pset_userblock(creation.id(), user_block);
  file_ = own_file(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()));
  if (!file_) throw Error(Errc::io_failure, name_ + " cannot be created (" + last_error() + ")");
}

// After a failed write (a full disk) HDF5 1.10 cannot close the file: it tries the write again, fails, keeps
// a dead identifier and crashes on it when the process ends. So the file's descriptor is turned to a file in
// memory first, where everything fits; where not even that works, the file stays open and is emptied instead.
void Writer::abandon() {
  void* handle = nullptr;
  if (H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &handle) < 0 || handle == nullptr) return;
  const int descriptor = *static_cast<int*>(handle);
  rlimit largest{};
  const bool unlimited = ::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur == RLIM_INFINITY;
  const int memory = unlimited ? ::memfd_create("abandoned", MFD_CLOEXEC) : -1;
  const bool turned = memory >= 0 && ::dup2(memory, descriptor) >= 0;
  if (memory >= 0) ::close(memory);
  if (turned) {
    file_.reset();
  } else {
    [[maybe_unused]] const int emptied = ::ftruncate(descriptor, 0);
    file_.release();
  }
}

Writer::~Writer() {
  const Quiet quiet;
  if (failed_) abandon();
  file_.reset();
}

void Writer::fail(std::string_view object) {
  failed_ = true;
  throw Error(Errc::io_failure, name_ + ":" + absolute(object) + " could not be written (" + last_error() + ")");
}

Handle Writer::create_dataset(std::string_view object, std::int64_t type, std::int64_t space, const Handle& creation) {
  const std::string path = absolute(object);
  create_group(parent_of(path));
  const Handle links = own_properties(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_char_encoding(links.id(), H5T_CSET_UTF8);
  Handle dataset =
      own_dataset(H5Dcreate2(file_.id(), path.c_str(), type, space, links.id(), creation.id(), H5P_DEFAULT));
  if (!dataset) fail(object);
  return dataset;
}

Handle Writer::create(std::string_view object, MemoryType type, const std::vector<index_t>& dims) {
  const Quiet quiet;
  const Handle element = stored_type(type);
  const std::vector<hsize_t> sizes(dims.begin(), dims.end());
  const Handle space = own_space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr));
  if (!space) fail(object);
  const Handle creation = timeless(H5P_DATASET_CREATE);
  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
  const auto element_bytes = static_cast<index_t>(H5Tget_size(element.id()));
  const index_t width = dims.size() > 1 ? dims[1] : 1;
  const index_t row_bytes = width * element_bytes;
  if (row_bytes > 0 && dims[0] > chunk_bytes / row_bytes) {
    std::vector<hsize_t> chunk = {static_cast<hsize_t>(std::max<index_t>(1, chunk_bytes / row_bytes))};
    if (dims.size() > 1)
      chunk.push_back(static_cast<hsize_t>(std::min(width, std::max<index_t>(1, chunk_bytes / element_bytes))));
    H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data());
    if (gzip_ > 0) {
      H5Pset_shuffle(creation.id());
      H5Pset_deflate(creation.id(), static_cast<unsigned>(gzip_));
    }
  }
  return create_dataset(object, element.id(), space.id(), creation);
}

void Writer::write_rows(const Handle& dataset, std::string_view object, MemoryType type, index_t begin, index_t count,
                        const void* data) {
  const Quiet quiet;
  const Handle element = stored_type(type), space = own_space(H5Dget_space(dataset.id()));
  hsize_t sizes[2] = {1, 1}, start[2] = {static_cast<hsize_t>(begin), 0};
  const int rank = H5Sget_simple_extent_dims(space.id(), sizes, nullptr);
  sizes[0] = static_cast<hsize_t>(count);
  if (count == 0 || sizes[1] == 0) return;
  const Handle memory = own_space(H5Screate_simple(rank, sizes, nullptr));
  if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, sizes, nullptr) < 0 ||
      H5Dwrite(dataset.id(), element.id(), memory.id(), space.id(), H5P_DEFAULT, data) < 0)
    fail(object);
}

void Writer::finish(Handle&& dataset, std::string_view object) {
  const Quiet quiet;
  if (dataset.reset() < 0) fail(object);
}

void Writer::write_one(std::string_view object, const Handle& type, const void* value) {
  const Handle space = own_space(H5Screate(H5S_SCALAR));
  Handle dataset = create_dataset(object, type.id(), space.id(), timeless(H5P_DATASET_CREATE));
  if (H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) fail(object);
  finish(std::move(dataset), object);
}

void Writer::write_text(std::string_view object, std::string_view text) {
  const Quiet quiet;
  const std::string copy(text);
  const char* pointer = copy.c_str();
  write_one(object, text_type(), &pointer);
}

void Writer::write_scalar(std::string_view object, MemoryType type, const void* value) {
  const Quiet quiet;
  write_one(object, stored_type(type), value);
}

void Writer::create_group(std::string_view object) {
  const Quiet quiet;
  const std::string path = absolute(object);
  if (path == "/") return;
  if (const Handle there = own_object(H5Oopen(file_.id(), path.c_str(), H5P_DEFAULT))) return;
  create_group(parent_of(path));
  const Handle links = own_properties(H5Pcreate(H5P_LINK_CREATE)), creation = timeless(H5P_GROUP_CREATE);
  H5Pset_char_encoding(links.id(), H5T_CSET_UTF8);
  const Handle group = own_group(H5Gcreate2(file_.id(), path.c_str(), links.id(), creation.id(), H5P_DEFAULT));
  if (!group) fail(object);
}

Handle Writer::open_object(std::string_view object) const {
  Handle there = own_object(H5Oopen(file_.id(), absolute(object).c_str(), H5P_DEFAULT));
  if (!there)
    throw Error(Errc::invalid_argument, joined(name_, " has no object '", object, "' to give an attribute to"));
  return there;
}

void Writer::attribute(std::string_view object, std::string_view name, const Handle& type, const void* value) {
  const Handle there = open_object(object), space = own_space(H5Screate(H5S_SCALAR));
  const Handle attribute =
      own_attribute(H5Acreate2(there.id(), std::string(name).c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute || H5Awrite(attribute.id(), type.id(), value) < 0) fail(object);
}

void Writer::text_attribute(std::string_view object, std::string_view name, std::string_view text) {
  const Quiet quiet;
  const std::string copy(text);
  const char* pointer = copy.c_str();
  attribute(object, name, text_type(), &pointer);
}

void Writer::scalar_attribute(std::string_view object, std::string_view name, MemoryType type, const void* value) {
  const Quiet quiet;
  attribute(object, name, stored_type(type), value);
}

void Writer::close() {
  const Quiet quiet;
  failed_ = H5Fflush(file_.id(), H5F_SCOPE_GLOBAL) < 0;
  if (failed_ || file_.reset() < 0)
    throw Error(Errc::io_failure, name_ + " could not be written out (" + last_error() + ")");
}

}  // namespace ts::inline v0::io::hdf5
