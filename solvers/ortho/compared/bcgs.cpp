// Skeletons that finish one block before they look at the next.
#include <algorithm>

#include "tallskinny/solvers/ortho/compared/skeleton_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho::detail {

namespace {

/// Calls step(V, X_k, S, R_kk) for each block behind the first; false is a breakdown.
template <class T, class Step>
Orthonormalised block_by_block(Tall<T>& tall, const Muscle& first, HostView<T> x, HostView<T> r, index_t width,
                               const Step& step) {
  for (index_t j = 0; j < x.cols(); j += width) {
    const index_t b = std::min(width, x.cols() - j);
    const auto block = x.cols(j, b), s = r.block(0, j, j, b), rk = r.block(j, j, b, b);
    if (j == 0 ? factorise_in_full(tall, first, block, rk) : step(HostView<const T>(x.cols(0, j)), block, s, rk))
      continue;
    set_zero(r.cols(j, b));
    return {j, 0, false, {}};
  }
  return {x.cols(), 0, true, {}};
}

/// S = V^H X, X = X - V S
template <class T>
void project(Tall<T>& tall, HostView<const T> v, HostView<T> x, HostView<T> s) {
  tall.inner(v, x, s);
  tall.subtract(v, s, x);
}

/// S = V^H X, R = chol(X^H X - S^H S), X = (X - V S) R^-1
template <class T>
bool pythagorean_projection(Tall<T>& tall, HostView<const T> v, HostView<T> x, HostView<T> s, HostView<T> r) {
  tall.inner_and_gram(v, x, s, r);
  subtract_adjoint_product<T>(s, s, r);
  if (!cholesky(r)) return false;
  tall.subtract(v, s, x);
  tall.solve(x, r);
  return true;
}

/// After X = V S + Q1 R and Q1 = V S2 + Q R2: S = S + S2 R and R = R2 R, so that X = V S + Q R.
template <class T>
void combine(HostView<T> s, HostView<T> r, const Matrix<T>& s2, const Matrix<T>& r2) {
  add<T>(s, product<T>(s2.view(), r).view());
  multiply_left<T>(r2.view(), r);
}

}  // namespace

template <class T>
Orthonormalised run(Tall<T>& tall, const Bcgs& method, HostView<T> x, HostView<T> r, index_t width) {
  return block_by_block(tall, method.muscle, x, r, width, [&](auto v, auto block, auto s, auto rk) {
    project(tall, v, block, s);
    return factorise_in_full(tall, method.muscle, block, rk);
  });
}

template <class T>
Orthonormalised run(Tall<T>& tall, const BcgsiPlus& method, HostView<T> x, HostView<T> r, index_t width) {
  return block_by_block(tall, method.first, x, r, width, [&](auto v, auto block, auto s, auto rk) {
    Matrix<T> s2(s.rows(), s.cols()), r2(rk.rows(), rk.cols());
    project(tall, v, block, s);
    if (!factorise_in_full(tall, method.muscle, block, rk)) return false;
    project(tall, v, block, s2.view());
    if (!factorise_in_full(tall, method.muscle, block, r2.view())) return false;
    combine(s, rk, s2, r2);
    return true;
  });
}

template <class T>
Orthonormalised run(Tall<T>& tall, const BcgsPip& method, HostView<T> x, HostView<T> r, index_t width) {
  return block_by_block(tall, method.first, x, r, width, [&](auto v, auto block, auto s, auto rk) {
    return pythagorean_projection(tall, v, block, s, rk);
  });
}

template <class T>
Orthonormalised run(Tall<T>& tall, const BcgsPipiPlus& method, HostView<T> x, HostView<T> r, index_t width) {
  return block_by_block(tall, method.first, x, r, width, [&](auto v, auto block, auto s, auto rk) {
    Matrix<T> s2(s.rows(), s.cols()), r2(rk.rows(), rk.cols());
    if (!pythagorean_projection(tall, v, block, s, rk)) return false;
    if (!pythagorean_projection(tall, v, block, s2.view(), r2.view())) return false;
    combine(s, rk, s2, r2);
    return true;
  });
}

template <class T>
Orthonormalised run(Tall<T>& tall, const BlockMgs& method, HostView<T> x, HostView<T> r, index_t width) {
  return block_by_block(tall, method.muscle, x, r, width, [&](auto v, auto block, auto s, auto rk) {
    for (index_t i = 0; i < v.cols(); i += width) project(tall, v.cols(i, width), block, s.rows(i, width));
    return factorise_in_full(tall, method.muscle, block, rk);
  });
}

#define TS_INSTANTIATE(T)                                                                            \
  template Orthonormalised run<T>(Tall<T>&, const Bcgs&, HostView<T>, HostView<T>, index_t);         \
  template Orthonormalised run<T>(Tall<T>&, const BcgsiPlus&, HostView<T>, HostView<T>, index_t);    \
  template Orthonormalised run<T>(Tall<T>&, const BcgsPip&, HostView<T>, HostView<T>, index_t);      \
  template Orthonormalised run<T>(Tall<T>&, const BcgsPipiPlus&, HostView<T>, HostView<T>, index_t); \
  template Orthonormalised run<T>(Tall<T>&, const BlockMgs&, HostView<T>, HostView<T>, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho::detail
