// The one header that includes HDF5's. Only the .cpp files of this folder and of io/write include it.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/io/hdf5/handle.hpp"

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

/// What HDF5 says of the last failed call: the innermost message of its error stack, or "".
[[nodiscard]] std::string last_error();

/// Why it failed: `words`, such as "it is damaged", with what HDF5 says; of a disk that fails what the system says.
[[nodiscard]] std::string cause_of_failure(const std::string& words);

/// Bits of the mantissa of a real type as they are stored.
[[nodiscard]] unsigned mantissa_bits_of(DType type);

/// A 16-bit float type with this many mantissa bits.
[[nodiscard]] Handle sixteen_bit_float(unsigned mantissa_bits);

inline constexpr int lzf_number = 32000;  ///< of the filter

/// Teaches HDF5 to read chunks that h5py compressed with LZF.
void register_lzf();

/// Called before anything else of HDF5: registers LZF and the fast conversions of 16-bit floats, and keeps
/// HDF5 from closing files when the process ends, which ours never need and which crashes after a failed
/// write.
void start_library();

enum class MemoryType;
/// The native type of such an element, or of the parts of a complex one.
[[nodiscard]] Handle scalar_type(MemoryType memory);
/// The type in memory of elements that are stored as `stored`.
[[nodiscard]] Handle memory_type(hid_t stored, MemoryType memory);

}  // namespace ts::inline v0::io::hdf5
