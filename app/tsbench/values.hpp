// Deterministic numbers in [-1, 1), the same for any number of threads.
#pragma once

#include "tallskinny/gemm/core/convert.hpp"
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
  if constexpr (is_complex<T>)
    return narrowed<T>({uniform_at(key), uniform_at(~key)});
  else
    return narrowed<T>(uniform_at(key));
}

}  // namespace ts::bench
