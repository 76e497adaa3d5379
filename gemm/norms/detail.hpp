// The bodies behind column_norms. Arguments are checked, and X is not empty.
#pragma once

#include <span>

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::reference {
template <class T>
void column_norms(Strided<const T> x, std::span<real_t<T>> norms);
}  // namespace ts::reference

namespace ts::fast {
template <class T>
void column_norms(const Context&, Strided<const T> x, std::span<real_t<T>> norms);
}  // namespace ts::fast
