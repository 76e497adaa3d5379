// From an element type as a value to a type of the language.
#pragma once

#include <type_traits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// body(std::type_identity<T>{}) for the real type T that `type` names; a complex one is taken for float64.
template <class Body>
auto by_real_type(DType type, Body&& body) {
  switch (type) {
    case DType::float32: return body(std::type_identity<float>{});
    case DType::float16: return body(std::type_identity<float16>{});
    case DType::bfloat16: return body(std::type_identity<bfloat16>{});
    default: return body(std::type_identity<double>{});
  }
}

/// The same for each of the six types.
template <class Body>
auto by_type(DType type, Body&& body) {
  switch (type) {
    case DType::complex128: return body(std::type_identity<std::complex<double>>{});
    case DType::complex64: return body(std::type_identity<std::complex<float>>{});
    default: return by_real_type(type, body);
  }
}

}  // namespace ts::inline v0
