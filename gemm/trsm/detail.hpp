// The bodies behind trsm. Arguments are checked, and no operand is empty.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::reference {
template <class T>
void trsm(Strided<T> x, Strided<const T> r);
}  // namespace ts::reference

namespace ts::fast {
template <class T>
void trsm(const Context&, Strided<T> x, Strided<const T> r);
}  // namespace ts::fast
