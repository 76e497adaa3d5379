#include "tallskinny/io/hdf5/h5.hpp"

#include <cstring>
#include <new>
#include <system_error>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include "tallskinny/io/file_bytes.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

int given_descriptor = -1;
haddr_t given_bytes = 0;
Capture* active_capture = nullptr;

/// One of HDF5's open files.
struct Opened : H5FD_t {
  haddr_t end_of_addresses = 0;
};

H5FD_t* open_source(const char*, unsigned flags, hid_t, haddr_t) {
  if ((flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT)) != 0 || given_descriptor < 0) return nullptr;
  return new (std::nothrow) Opened{};
}

herr_t close_source(H5FD_t* file) {
  delete static_cast<Opened*>(file);
  return 0;
}

herr_t read_source(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t at, std::size_t bytes, void* out) {
  const haddr_t end = static_cast<const Opened*>(file)->end_of_addresses;
  if (at == HADDR_UNDEF || at > end || bytes > end - at) return -1;
  if (active_capture != nullptr && type == H5FD_MEM_DRAW) {
    active_capture->offset = at, active_capture->bytes = bytes, ++active_capture->readings;
    return 0;
  }
  try {
    auto* const to = static_cast<std::byte*>(out);
    const std::size_t got = read_at(given_descriptor, at, {to, bytes});
    std::memset(to + got, 0, bytes - got);  // as HDF5's own driver does behind the end of the file
    return 0;
  } catch (const std::system_error& error) {
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s",
             error.code().message().c_str());
    return -1;
  }
}

herr_t write_nothing(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

herr_t features(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t) { return static_cast<const Opened*>(file)->end_of_addresses; }

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t at) {
  static_cast<Opened*>(file)->end_of_addresses = at;
  return 0;
}

haddr_t end_of_file(const H5FD_t*, H5FD_mem_t) { return given_bytes; }

}  // namespace

Handle descriptor_access(int descriptor, std::uint64_t bytes) {
  given_descriptor = descriptor;
  given_bytes = bytes;
  static H5FD_class_t driver{};  // fl_map of zeros is H5FD_FLMAP_DEFAULT
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(513);  // for drivers that nobody shares
#endif
  driver.name = "tallskinny descriptor";
  driver.maxaddr = (haddr_t{1} << 63) - 1;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open_source;
  driver.close = close_source;
  driver.query = features;
  driver.get_eoa = end_of_addresses;
  driver.set_eoa = set_end_of_addresses;
  driver.get_eof = end_of_file;
  driver.read = read_source;
  driver.write = write_nothing;
  const hid_t id = H5FDregister(&driver);
  Handle access = own_properties(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_driver(access.id(), id, nullptr);
  return access;
}

Capture::Capture() { active_capture = this; }
Capture::~Capture() { active_capture = nullptr; }

}  // namespace ts::inline v0::io::hdf5
