// Deterministic numbers in [-1, 1), the same for any number of threads.
#pragma once

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"

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

/// values[i] = value_at<T>(first + i), with so many threads.
template <class T>
void fill(int threads, void* memory, index_t count, std::uint64_t first) {
  T* const values = static_cast<T*>(memory);
  parallel_for(threads, count, [&](index_t i) { values[i] = value_at<T>(first + static_cast<std::uint64_t>(i)); });
}

}  // namespace ts::bench
