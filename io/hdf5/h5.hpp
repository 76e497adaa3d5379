// The one header that includes HDF5's. Only the .cpp files of this folder and of io/write include it.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/hdf5/node.hpp"

namespace ts::inline v0::io::hdf5 {

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "HDF5 1.10 or newer has 64-bit identifiers");

/// Held by whoever is inside HDF5 (Quiet does that), which is for one thread at a time.
[[nodiscard]] std::recursive_mutex& library_lock();

/// While one lives, this thread alone uses HDF5, which prints nothing; the caller's setting comes back after.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> alone_{library_lock()};
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Closing may write what HDF5 has kept back, and fail.
template <herr_t (*close)(hid_t)>
int close_quietly(hid_t id) {
  const Quiet quiet;
  return close(id);
}

inline Handle own_file(hid_t id) { return {id, close_quietly<H5Fclose>}; }
inline Handle own_group(hid_t id) { return {id, close_quietly<H5Gclose>}; }
inline Handle own_object(hid_t id) { return {id, close_quietly<H5Oclose>}; }
inline Handle own_dataset(hid_t id) { return {id, close_quietly<H5Dclose>}; }
inline Handle own_type(hid_t id) { return {id, close_quietly<H5Tclose>}; }
inline Handle own_space(hid_t id) { return {id, close_quietly<H5Sclose>}; }
inline Handle own_attribute(hid_t id) { return {id, close_quietly<H5Aclose>}; }
inline Handle own_properties(hid_t id) { return {id, close_quietly<H5Pclose>}; }

/// The innermost message of HDF5's error stack, which says why the last call failed; "" without one.
[[nodiscard]] std::string last_error();

/// Cause of a failure: `words`, such as "it is damaged", with HDF5's message; for a failing disk the system's message.
[[nodiscard]] std::string cause_of_failure(const std::string& words);

/// Bits of the mantissa of a real type as they are stored.
[[nodiscard]] unsigned mantissa_bits_of(DType type);

/// A 16-bit float type with this many mantissa bits.
[[nodiscard]] Handle sixteen_bit_float(unsigned mantissa_bits);

inline constexpr int lzf_number = 32000;  ///< of the filter

/// Teaches HDF5 to read chunks that h5py compressed with LZF.
void register_lzf();

/// Teaches HDF5 to convert 16-bit floats fast.
void register_half_conversion();

/// Called before anything else of HDF5: registers LZF and the fast conversions of 16-bit floats, and keeps
/// HDF5 from closing files when the process ends, which ours never need and which crashes after a failed
/// write.
void start_library();

/// The native type of such an element, or of the parts of a complex one.
[[nodiscard]] Handle scalar_type(MemoryType memory);
/// The type in memory of elements that are stored as `stored`.
[[nodiscard]] Handle memory_type(hid_t stored, MemoryType memory);

/// Bytes that a file holds in place of a variable-length string: length, address of a heap, number in it.
inline constexpr std::size_t reference_bytes = 16;
using Reference = std::array<unsigned char, reference_bytes>;

/// The memory type with which H5Aread and H5Dread deliver References.
[[nodiscard]] Handle registered_reference_type();

/// The string; nothing if the heap is damaged. `object` is any open object of the file.
[[nodiscard]] std::optional<std::string> text_behind(const Reference& reference, hid_t object, const FileBytes& file);

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
