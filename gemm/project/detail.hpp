// The bodies behind inner_and_gram and project_out. Arguments are checked; n > 0 and W has columns. S, S_next
// and G may be empty.
#pragma once

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::detail {

// What the operands must be, wherever they are.

template <class T, Space P>
void expect_inner_and_gram(const Strided<const T, P>& v, const Strided<const T, P>& w, const Strided<T, P>& s,
                           const Strided<T, P>& g) {
  expect_shape("inner_and_gram", "V", v, w.rows, v.cols, "as many rows as W");
  expect_shape("inner_and_gram", "S", s, v.cols, w.cols, "columns of V by columns of W");
  expect_shape("inner_and_gram", "G", g, w.cols, w.cols, "columns of W by columns of W");
  expect_disjoint("inner_and_gram", s, "S", v, "V");
  expect_disjoint("inner_and_gram", s, "S", w, "W");
  expect_disjoint("inner_and_gram", g, "G", v, "V");
  expect_disjoint("inner_and_gram", g, "G", w, "W");
  expect_disjoint("inner_and_gram", g, "G", s, "S");
}

template <class T, Space P>
void expect_project_out(const Strided<const T, P>& v, const Strided<const T, P>& s, const Strided<T, P>& w,
                        const Strided<T, P>& s_next, const Strided<T, P>& g) {
  expect_shape("project_out", "V", v, w.rows, v.cols, "as many rows as W");
  expect_shape("project_out", "S", s, v.cols, w.cols, "columns of V by columns of W");
  if (s_next.rows != 0 || s_next.cols != 0)
    expect_shape("project_out", "S_next", s_next, v.cols, w.cols, "columns of V by columns of W, or 0 x 0");
  if (g.rows != 0 || g.cols != 0)
    expect_shape("project_out", "G", g, w.cols, w.cols, "columns of W by columns of W, or 0 x 0");
  expect_disjoint("project_out", w, "W", v, "V");
  expect_disjoint("project_out", w, "W", s, "S");
  expect_disjoint("project_out", s_next, "S_next", v, "V");
  expect_disjoint("project_out", s_next, "S_next", w, "W");
  expect_disjoint("project_out", s_next, "S_next", s, "S");
  expect_disjoint("project_out", g, "G", v, "V");
  expect_disjoint("project_out", g, "G", w, "W");
  expect_disjoint("project_out", g, "G", s, "S");
  expect_disjoint("project_out", g, "G", s_next, "S_next");
}

}  // namespace ts::inline v0::detail

namespace ts::inline v0::reference {
template <class T>
void inner_and_gram(Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g);
template <class T>
void project_out(Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next, Strided<T> g);
}  // namespace ts::inline v0::reference

namespace ts::inline v0::fast {
template <class T>
void inner_and_gram(const Context&, Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g);
template <class T>
void project_out(const Context&, Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next, Strided<T> g);
}  // namespace ts::inline v0::fast
