// The entries of a matrix with their places, sparse or dense.
#pragma once

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0 {

/// use(i, j, a_ij) for every entry that is stored, row by row.
template <class T, class I, class Use>
void for_each_entry(const CsrView<T, Space::host, I>& a, const Use& use) {
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k) use(i, static_cast<index_t>(a.indices[k]), a.values[k]);
}
template <class T, class Use>
void for_each_entry(HostView<const T> a, const Use& use) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) use(i, j, a(i, j));
}

}  // namespace ts::inline v0
