// Randomised block Gram-Schmidt.
#include <algorithm>

#include "tallskinny/solvers/ortho/compared/householder.hpp"
#include "tallskinny/solvers/ortho/compared/skeleton_detail.hpp"
#include "tallskinny/solvers/ortho/compared/sketch.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::ortho::detail {

namespace {

/// S = V^H P and P = P - V S, twice
template <class T>
void project_out_twice(const Context& ctx, HostView<const T> v, HostView<T> p, HostView<T> s) {
  Tall<T> small(ctx);
  Matrix<T> step(s.rows(), s.cols());
  for (int pass = 0; pass < 2; ++pass) {
    small.inner(v, p, step.view());
    small.subtract(v, step.cview(), p);
    add<T>(s, step.cview());
  }
}

/// P = T R in place by Householder QR; false when a diagonal element of R is zero or P is not finite.
template <class T>
bool factorise_small(HostView<T> p, HostView<T> r) {
  if (!all_finite(HostView<const T>(p))) return false;
  const index_t b = p.cols();
  const auto tau = householder_qr<T>(p);
  auto q = Matrix<T>::zeros(p.rows(), b);
  for (index_t i = 0; i < b; ++i) {
    q(i, i) = T{1};
    for (index_t j = i; j < b; ++j) r(i, j) = p(i, j);
    if (r(i, i) == T{}) return false;
  }
  apply_q<T>(p, tau, q.view());
  copy<T>(q.view(), p);
  return true;
}

}  // namespace

template <class T>
Orthonormalised run(Tall<T>& tall, RandomisedBcgs method, HostView<T> x, HostView<T> r, index_t width) {
  if (x.rows() < x.cols()) return {};
  const Context& ctx = tall.context();
  const index_t rows = sketch_rows(x.cols());
  const auto sketch_of = [&](HostView<T> block) {
    tall.count_own_pass(block, true, false);
    return sketch<T>(ctx, method.seed, rows, block);
  };
  // Theta Q = T C with T orthonormal and C near the identity: Q is what it is after rounding, and its sketch
  // with it.
  auto t = Matrix<T>::zeros(rows, x.cols()), c = Matrix<T>::zeros(x.cols(), x.cols());
  for (index_t j = 0; j < x.cols(); j += width) {
    const index_t b = std::min(width, x.cols() - j);
    const auto block = x.cols(j, b), s = r.block(0, j, j, b), rk = r.block(j, j, b, b);
    if (j > 0) {  // S = argmin ||Theta X - Theta Q S||, X = X - Q S
      auto p = sketch_of(block);
      project_out_twice<T>(ctx, t.cview().cols(0, j), p.view(), s);
      solve_upper<T>(c.cview().block(0, 0, j, j), s);
      tall.subtract(x.cols(0, j), s, block);
    }
    // Theta X = T_k R_kk, X = X R_kk^-1
    auto p = sketch_of(block);
    if (!factorise_small<T>(p.view(), rk)) {
      set_zero(r.cols(j, b));
      return {j, 0, false, {}};
    }
    tall.solve(block, rk);
    const auto tk = t.view().cols(j, b);
    copy<T>(sketch_of(block).view(), tk);
    project_out_twice<T>(ctx, t.cview().cols(0, j), tk, c.view().block(0, j, j, b));
    if (!factorise_small<T>(tk, c.view().block(j, j, b, b))) {
      set_zero(r.cols(j, b));
      return {j, 0, false, {}};
    }
  }
  return {x.cols(), 0, true, {}};
}

#define TS_INSTANTIATE(T) template Orthonormalised run<T>(Tall<T>&, RandomisedBcgs, HostView<T>, HostView<T>, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho::detail
