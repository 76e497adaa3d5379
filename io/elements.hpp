// Names of element types in files.
#pragma once

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::io {

/// The 16-bit type that neither NumPy nor HDF5 1.10 has a name for: files hold its bits as V2 or as integers.
inline constexpr DType unnamed_dtype = DType::bfloat16;

/// The real type of this many bytes that has a name everywhere; float64 if there is none.
[[nodiscard]] constexpr DType real_dtype(index_t bytes) noexcept {
  for (const DType type : every_dtype)
    if (parts_of(type) == 1 && scalar_bytes(type) == bytes && type != unnamed_dtype) return type;
  return DType::float64;
}

/// The complex type that holds pairs of these reals.
[[nodiscard]] constexpr DType complex_dtype(DType real) noexcept {
  return scalar_bytes(real) == 8 ? DType::complex128 : DType::complex64;
}

}  // namespace ts::inline v0::io
