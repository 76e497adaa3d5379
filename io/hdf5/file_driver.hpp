// HDF5's way to a file that is open already: a driver that reads a descriptor and cannot open anything.
#pragma once

#include <cstdint>

#include "tallskinny/io/hdf5/h5.hpp"

namespace ts::inline v0::io::hdf5 {

/// Access properties under which H5Fopen takes `descriptor`, a file of so many bytes, whatever the name says.
/// It stays the caller's. For one descriptor a process.
[[nodiscard]] Handle descriptor_access(int descriptor, std::uint64_t bytes);

/// While one lives the driver does not read raw data, but notes where it lies. One at a time.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::uint64_t offset = 0, bytes = 0;  ///< of the last reading, in the file
  int readings = 0;
};

}  // namespace ts::inline v0::io::hdf5
