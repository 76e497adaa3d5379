// The bodies behind trsm. Arguments are checked, and no operand is empty.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::reference {
template <class T>
void trsm(Strided<T> x, Strided<const T> r);
}  // namespace ts::inline v0::reference

namespace ts::inline v0::fast {
template <class T>
void trsm(const Context&, Strided<T> x, Strided<const T> r);
}  // namespace ts::inline v0::fast
