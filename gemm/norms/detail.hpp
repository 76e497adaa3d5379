// The bodies behind column_norms. Arguments are checked, and X is not empty.
#pragma once

#include <span>

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::reference {
template <class T>
void column_norms(Strided<const T> x, std::span<real_t<T>> norms);
}  // namespace ts::inline v0::reference

namespace ts::inline v0::fast {
template <class T>
void column_norms(const Context&, Strided<const T> x, std::span<real_t<T>> norms);
}  // namespace ts::inline v0::fast
