// The element types on the device: Element is that of the kernel's policy.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

using int64 = long long;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// As ts::float16 and ts::bfloat16: the bits alone. Computing is done in float.
struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

/// As std::complex<R>: real part first. Aligned to its parts only, as the host aligns it.
template <class R>
struct Complex {
  R re, im;
};

template <class T>
struct TypeTraits {
  using Real = T;
  using Result = T;
  static constexpr int parts = 1;
};
template <class R>
struct TypeTraits<Complex<R>> {
  using Real = R;
  using Result = Complex<R>;
  static constexpr int parts = 2;
};
template <>
struct TypeTraits<Half> {
  using Real = float;
  using Result = float;
  static constexpr int parts = 1;
};
template <>
struct TypeTraits<Bfloat> {
  using Real = float;
  using Result = float;
  static constexpr int parts = 1;
};

template <bool First, class A, class B>
struct Choose {
  using type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using type = B;
};

/// Elements that are moved at once, by instructions for this alignment.
template <class T, int count, int alignment>
struct alignas(alignment) Vector {
  T part[count];
};

template <ts::DType type>
struct ElementOf;  // the policy's type must be one of the six element types
template <>
struct ElementOf<ts::DType::float64> {
  using Type = double;
};
template <>
struct ElementOf<ts::DType::complex128> {
  using Type = Complex<double>;
};
template <>
struct ElementOf<ts::DType::float32> {
  using Type = float;
};
template <>
struct ElementOf<ts::DType::complex64> {
  using Type = Complex<float>;
};
template <>
struct ElementOf<ts::DType::float16> {
  using Type = Half;
};
template <>
struct ElementOf<ts::DType::bfloat16> {
  using Type = Bfloat;
};

constexpr ts::DType element_type = policy.type;
using Element = ElementOf<element_type>::Type;
using Real = TypeTraits<Element>::Real;
using Result = TypeTraits<Element>::Result;        ///< what products of elements are
constexpr int parts = TypeTraits<Element>::parts;  ///< reals in an element
constexpr bool is_complex = parts == 2;
constexpr bool is_short = sizeof(Element) == 2;  ///< a 16-bit type

/// Exact widening to the type that computing is done in.
template <class T>
__device__ __forceinline__ T widen(T x) {
  return x;
}
__device__ __forceinline__ float widen(Half x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
}
__device__ __forceinline__ float widen(Bfloat x) { return __uint_as_float(static_cast<uint32>(x.bits) << 16); }

template <class R>
__device__ __forceinline__ R conj(R x) {
  return x;
}
template <class R>
__device__ __forceinline__ Complex<R> conj(Complex<R> x) {
  return {x.re, -x.im};
}

/// a b + c
__device__ __forceinline__ float madd(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double madd(double a, double b, double c) { return __fma_rn(a, b, c); }
template <class R>
__device__ __forceinline__ Complex<R> madd(Complex<R> a, Complex<R> b, Complex<R> c) {
  return {madd(a.re, b.re, madd(-a.im, b.im, c.re)), madd(a.re, b.im, madd(a.im, b.re, c.im))};
}
template <class R>
__device__ __forceinline__ R mul(R a, R b) {
  return a * b;
}
template <class R>
__device__ __forceinline__ Complex<R> mul(Complex<R> a, Complex<R> b) {
  return {madd(a.re, b.re, -(a.im * b.im)), madd(a.re, b.im, a.im * b.re)};
}

template <class R>
__device__ __forceinline__ bool is_zero(R x) {
  return x == R(0);
}
template <class R>
__device__ __forceinline__ bool is_zero(Complex<R> x) {
  return x.re == R(0) && x.im == R(0);
}

/// out = alpha product + beta out, where beta = 0 never reads out.
template <class R>
__device__ __forceinline__ void store_scaled(R* out, R alpha, R product, R beta) {
  const R scaled = mul(alpha, product);
  *out = is_zero(beta) ? scaled : madd(beta, *out, scaled);
}
