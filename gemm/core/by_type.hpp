// From an element type as a value to a type of the language.
#pragma once

#include <tuple>
#include <type_traits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

#define TS_CASE(T) \
  case dtype_of<T>: return body(std::type_identity<T>{});

/// body(std::type_identity<T>{}) for the element type T that `type` names.
template <class Body>
auto by_type(DType type, Body&& body) {
  switch (type) { TS_FOR_EACH_TYPE(TS_CASE) }
  return body(std::type_identity<double>{});
}

/// body(std::type_identity<T>{}) for the real type T that `type` names; a complex one is taken for float64.
template <class Body>
auto by_real_type(DType type, Body&& body) {
  switch (type) {
    TS_FOR_EACH_REAL_TYPE(TS_CASE)
    default: return body(std::type_identity<double>{});
  }
}

#undef TS_CASE

/// Types as a list; `First` only stands before the comma that each of them has.
template <class First, class... T>
struct TypeList {
  template <template <class> class Of>
  using tuple_of = std::tuple<Of<T>...>;
};
#define TS_NEXT(T) , T
using ElementTypes = TypeList<void TS_FOR_EACH_TYPE(TS_NEXT)>;
using ResultTypes = TypeList<void TS_FOR_EACH_RESULT_TYPE(TS_NEXT)>;
using RealTypes = TypeList<void TS_FOR_EACH_REAL_TYPE(TS_NEXT)>;
using HalfTypes = TypeList<void TS_FOR_EACH_HALF_TYPE(TS_NEXT)>;
#undef TS_NEXT

}  // namespace ts::inline v0
