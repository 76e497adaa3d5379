// What host code and kernels both know of element types. Includes nothing, for the run-time compiler reads it, too.
#pragma once

namespace ts::inline v0 {

/// Row and column counts, leading dimensions and offsets. Always 64-bit.
using index_t = long;
static_assert(sizeof(index_t) == 8);

/// The six element types.
enum class DType { float64, complex128, float32, complex64, float16, bfloat16 };

/// Reals of an element.
[[nodiscard]] constexpr int parts_of(DType t) noexcept {
  return t == DType::complex128 || t == DType::complex64 ? 2 : 1;
}
/// Bytes of such a real.
[[nodiscard]] constexpr int scalar_bytes(DType t) noexcept {
  return t == DType::float64 || t == DType::complex128 ? 8 : t == DType::float32 || t == DType::complex64 ? 4 : 2;
}
/// The type of products of elements: float32 for the two 16-bit types.
[[nodiscard]] constexpr DType result_type_of(DType t) noexcept { return scalar_bytes(t) == 2 ? DType::float32 : t; }

}  // namespace ts::inline v0
