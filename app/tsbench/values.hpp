// Deterministic numbers in [-1, 1), the same for any number of threads.
#pragma once

#include "tallskinny/gemm/core/types.hpp"

namespace ts::bench {

inline double uniform_at(std::uint64_t key) {
  std::uint64_t z = (key + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

template <class T>
T value_at(std::uint64_t key) {
  const double re = uniform_at(key);
  if constexpr (is_complex<T>)
    return {static_cast<real_t<T>>(re), static_cast<real_t<T>>(uniform_at(~key))};
  else if constexpr (std::is_same_v<T, float16>)
    return to_float16(static_cast<float>(re));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return to_bfloat16(static_cast<float>(re));
  else
    return static_cast<T>(re);
}

}  // namespace ts::bench
