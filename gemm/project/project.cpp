#include "tallskinny/gemm/project/project.hpp"

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/project/project_detail.hpp"

namespace ts::detail {

template <class T>
void inner_and_gram(const Context& ctx, Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g) {
  expect_shape("inner_and_gram", "V", v, w.rows, v.cols, "as many rows as W");
  expect_shape("inner_and_gram", "S", s, v.cols, w.cols, "columns of V by columns of W");
  expect_shape("inner_and_gram", "G", g, w.cols, w.cols, "columns of W by columns of W");
  expect_disjoint("inner_and_gram", s, "S", v, "V");
  expect_disjoint("inner_and_gram", s, "S", w, "W");
  expect_disjoint("inner_and_gram", g, "G", v, "V");
  expect_disjoint("inner_and_gram", g, "G", w, "W");
  expect_disjoint("inner_and_gram", g, "G", s, "S");
  if (w.cols == 0) return;
  if (w.rows == 0) {
    scale_output(T{}, s);
    return scale_output(T{}, g);
  }
  if (ctx.implementation == Implementation::reference) return reference::inner_and_gram<T>(v, w, s, g);
  fast::inner_and_gram<T>(ctx, v, w, s, g);
}

template <class T>
void project_out(const Context& ctx, Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next,
                 Strided<T> g) {
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
  if (w.cols == 0) return;
  if (w.rows == 0) {
    scale_output(T{}, s_next);
    return scale_output(T{}, g);
  }
  if (ctx.implementation == Implementation::reference) return reference::project_out<T>(v, s, w, s_next, g);
  fast::project_out<T>(ctx, v, s, w, s_next, g);
}

#define TS_INSTANTIATE(T)                                                                                  \
  template void inner_and_gram<T>(const Context&, Strided<const T>, Strided<const T>, Strided<T>,          \
                                  Strided<T>);                                                             \
  template void project_out<T>(const Context&, Strided<const T>, Strided<const T>, Strided<T>, Strided<T>, \
                               Strided<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::detail
