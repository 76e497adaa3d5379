// How far the entries of a sparse matrix lie from its diagonal.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::inline v0 {

/// SparseFacts::reach: the largest |j - i| of an entry (i, j), 0 without entries.
template <class T, class I>
[[nodiscard]] index_t reach_of(CsrView<T, Space::host, I> a) {
  return parallel_reduce(
      default_threads(), a.rows, index_t{0},
      [&](index_t first, index_t last) {
        index_t reach = 0;
        for (index_t i = first; i < last; ++i)
          for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e)
            reach = std::max(reach, std::abs(static_cast<index_t>(a.indices[e]) - i));
        return reach;
      },
      [](index_t x, index_t y) { return std::max(x, y); });
}

}  // namespace ts::inline v0
