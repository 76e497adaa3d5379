// Element types of the engine and the words that belong to them.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0 {

static_assert(std::is_same_v<index_t, std::int64_t>);

/// IEEE binary16 as stored; computing is done in float. Numbers become one by to_float16, and nothing else
/// does by itself.
struct float16 {
  std::uint16_t bits = 0;
  constexpr float16() = default;
  [[nodiscard]] static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 x;
    x.bits = bits;
    return x;
  }
  [[nodiscard]] static constexpr float16 from_float(float x) noexcept;  ///< as to_float16
  friend bool operator==(float16, float16) = default;
};

/// The upper half of a binary32 as stored; computing is done in float. See to_bfloat16.
struct bfloat16 {
  std::uint16_t bits = 0;
  constexpr bfloat16() = default;
  [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 x;
    x.bits = bits;
    return x;
  }
  [[nodiscard]] static constexpr bfloat16 from_float(float x) noexcept;  ///< as to_bfloat16
  friend bool operator==(bfloat16, bfloat16) = default;
};

/// Exact widening. NaN payloads keep their upper bits.
[[nodiscard]] constexpr float to_float(bfloat16 x) noexcept {
  return std::bit_cast<float>(std::uint32_t{x.bits} << 16);
}
[[nodiscard]] constexpr float to_float(float16 x) noexcept {
  const std::uint32_t sign = std::uint32_t{x.bits & 0x8000u} << 16;
  const std::uint32_t magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity and NaN
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u)  // normal: move the exponent's bias from 15 to 127
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -subnormal : subnormal;
}

/// Round to nearest, ties to even. Overflow gives infinity, NaN stays NaN.
[[nodiscard]] constexpr bfloat16 to_bfloat16(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t upper = nan ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return bfloat16::from_bits(static_cast<std::uint16_t>(upper));
}
[[nodiscard]] constexpr float16 to_float16(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const auto signed_bits = [sign](std::uint32_t m) { return float16::from_bits(static_cast<std::uint16_t>(sign | m)); };
  if (magnitude > 0x7f800000u) return signed_bits(0x7e00u | ((magnitude >> 13) & 0x3ffu));  // NaN
  if (magnitude >= 0x477ff000u) return signed_bits(0x7c00u);  // 65520 and above round to infinity
  if (magnitude >= 0x38800000u)                               // normal
    return signed_bits((magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13);
  // Subnormal: adding 0.5 aligns the last kept bit with the last bit of a binary32, which rounds for us.
  const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
  return signed_bits(std::bit_cast<std::uint32_t>(aligned) - std::bit_cast<std::uint32_t>(0.5f));
}

constexpr bfloat16 bfloat16::from_float(float x) noexcept { return to_bfloat16(x); }
constexpr float16 float16::from_float(float x) noexcept { return to_float16(x); }

/// op(A): A itself, its transpose, or its conjugate transpose (for real types the last two are one).
enum class Op { none, transpose, adjoint };

/// The list of all element types, in the order of DType: X(name, type, binary digits of a real's significand).
#define TS_ELEMENT_TYPES(X)               \
  X(float64, double, 53)                  \
  X(complex128, std::complex<double>, 53) \
  X(float32, float, 24)                   \
  X(complex64, std::complex<float>, 24)   \
  X(float16, ::ts::float16, 11)           \
  X(bfloat16, ::ts::bfloat16, 8)

/// X(type), or X(type, more): once for every type that results may have, for every type that is stored in 16 bits and
/// computed with in float, for every real type, and for every element type.
#define TS_FOR_EACH_RESULT_TYPE(X, ...)              \
  X(double __VA_OPT__(, ) __VA_ARGS__)               \
  X(std::complex<double> __VA_OPT__(, ) __VA_ARGS__) \
  X(float __VA_OPT__(, ) __VA_ARGS__) X(std::complex<float> __VA_OPT__(, ) __VA_ARGS__)
#define TS_FOR_EACH_HALF_TYPE(X, ...) \
  X(::ts::float16 __VA_OPT__(, ) __VA_ARGS__) X(::ts::bfloat16 __VA_OPT__(, ) __VA_ARGS__)
#define TS_FOR_EACH_REAL_TYPE(X, ...)  \
  X(double __VA_OPT__(, ) __VA_ARGS__) \
  X(float __VA_OPT__(, ) __VA_ARGS__) TS_FOR_EACH_HALF_TYPE(X __VA_OPT__(, ) __VA_ARGS__)
#define TS_FOR_EACH_TYPE(X, ...)                        \
  TS_FOR_EACH_RESULT_TYPE(X __VA_OPT__(, ) __VA_ARGS__) \
  TS_FOR_EACH_HALF_TYPE(X __VA_OPT__(, ) __VA_ARGS__)

/// X of those: explicit instantiations of a template. Of a function that is not overloaded its name says all.
#define TS_FUNCTION(T, name) template decltype(name<T>) name<T>;
#define TS_CLASS(T, name) template class name<T>;
#define TS_STRUCT(T, name) template struct name<T>;
#define TS_EXTERN_CLASS(T, name) extern template class name<T>;

/// Whether numbers have an imaginary part.
template <class T>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<std::complex<R>> = true;

namespace detail {
template <class T>
struct TypeTraits {
  using Real = T;
  using Result = T;
};
template <class R>
struct TypeTraits<std::complex<R>> {
  using Real = R;
  using Result = std::complex<R>;
};
template <class T>
requires requires(T x) { to_float(x); }
struct TypeTraits<T> {
  using Real = float;
  using Result = float;
};

template <class T>
struct ValueOf;
#define TS_NAME(name, T, digits)                \
  template <>                                   \
  struct ValueOf<T> {                           \
    static constexpr DType dtype = DType::name; \
  };
TS_ELEMENT_TYPES(TS_NAME)
#undef TS_NAME
}  // namespace detail

/// The real type that a norm of T has: double, double, float, float, float, float.
template <class T>
using real_t = typename detail::TypeTraits<T>::Real;

/// The type of a product of T's: T itself, and float for the two 16-bit types.
template <class T>
using result_t = typename detail::TypeTraits<T>::Result;

/// The value that stands for a type.
template <class T>
inline constexpr DType dtype_of = detail::ValueOf<T>::dtype;

#define TS_DTYPE(name, T, digits) DType::name,
/// All element types, widest first.
inline constexpr DType every_dtype[] = {TS_ELEMENT_TYPES(TS_DTYPE)};
#undef TS_DTYPE

/// Bytes of an element.
[[nodiscard]] constexpr std::size_t size_of(DType t) noexcept {
  return static_cast<std::size_t>(parts_of(t) * scalar_bytes(t));
}
#define TS_CHECK(name, T, digits) static_assert(sizeof(T) == size_of(DType::name));
TS_ELEMENT_TYPES(TS_CHECK)
#undef TS_CHECK

/// Binary digits of the significand of an element's reals, the leading one included; the sign and the exponent have the
/// other bits.
[[nodiscard]] constexpr int digits_of(DType t) noexcept {
#define TS_DIGITS(name, T, digits) digits,
  constexpr int all[] = {TS_ELEMENT_TYPES(TS_DIGITS)};
#undef TS_DIGITS
  return all[static_cast<std::size_t>(t)];
}

/// "float64" and so on, as NumPy says it.
[[nodiscard]] constexpr std::string_view name_of(DType t) noexcept {
#define TS_NAME(name, T, digits) #name,
  constexpr std::string_view all[] = {TS_ELEMENT_TYPES(TS_NAME)};
#undef TS_NAME
  return all[static_cast<std::size_t>(t)];
}

}  // namespace ts::inline v0
