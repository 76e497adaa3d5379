#include "tallskinny/gemm/project/project.hpp"

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/project/detail.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"

namespace ts::inline v0::detail {

template <class T>
void inner_and_gram(const Context& ctx, Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g) {
  const UseHostMemory use(ctx.host_memory);
  expect_inner_and_gram(v, w, s, g);
  if (w.cols == 0) return;
  if (w.rows == 0 && !distributed(ctx)) {
    scale_output(T{}, s);
    return scale_output(T{}, g);
  }
  Problem problem{Operation::inner_and_gram, dtype_of<T>, w.rows, v.cols, w.cols};
  problem.wants_inner = !s.empty(), problem.wants_gram = !g.empty();
  const Profile::Piece piece(ctx, problem);
  if (ctx.implementation == Implementation::reference && !distributed(ctx))
    return reference::inner_and_gram<T>(v, w, s, g);
  fast::inner_and_gram<T>(ctx, v, w, s, g);
}

template <class T>
void project_out(const Context& ctx, Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next,
                 Strided<T> g) {
  const UseHostMemory use(ctx.host_memory);
  expect_project_out(v, s, w, s_next, g);
  if (w.cols == 0) return;
  if (w.rows == 0 && !distributed(ctx)) {
    scale_output(T{}, s_next);
    return scale_output(T{}, g);
  }
  Problem problem{Operation::project_out, dtype_of<T>, w.rows, v.cols, w.cols};
  problem.wants_inner = !s_next.empty(), problem.wants_gram = !g.empty();
  const Profile::Piece piece(ctx, problem);
  if (ctx.implementation == Implementation::reference && !distributed(ctx))
    return reference::project_out<T>(v, s, w, s_next, g);
  fast::project_out<T>(ctx, v, s, w, s_next, g);
}

#define TS_INSTANTIATE(T)                                                                                      \
  template void inner_and_gram<T>(const Context&, Strided<const T>, Strided<const T>, Strided<T>, Strided<T>); \
  template void project_out<T>(const Context&, Strided<const T>, Strided<const T>, Strided<T>, Strided<T>, Strided<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
