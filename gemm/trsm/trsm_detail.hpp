// The bodies behind trsm. Arguments are checked, and no operand is empty.
#pragma once

#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::reference {
template <class T>
void trsm(Strided<T> x, Strided<const T> r);
}  // namespace ts::reference

namespace ts::fast {
template <class T>
void trsm(const Context&, Strided<T> x, Strided<const T> r);
}  // namespace ts::fast
