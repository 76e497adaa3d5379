// The bodies behind inner_and_gram and project_out. Arguments are checked; n > 0 and W has columns. S, S_next
// and G may be empty.
#pragma once

#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::reference {
template <class T>
void inner_and_gram(Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g);
template <class T>
void project_out(Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next, Strided<T> g);
}  // namespace ts::reference

namespace ts::fast {
template <class T>
void inner_and_gram(const Context&, Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g);
template <class T>
void project_out(const Context&, Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next,
                 Strided<T> g);
}  // namespace ts::fast
