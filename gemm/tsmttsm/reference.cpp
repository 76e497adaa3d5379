#include "tallskinny/gemm/core/eigen_reference.hpp"
#include "tallskinny/gemm/tsmttsm/detail.hpp"

namespace ts::inline v0::reference {

template <class T>
void tsmttsm(Op op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta,
             Strided<result_t<T>> c) {
  using R = result_t<T>;
  Row<R> a_k, b_k;
  Dense<R> sum = Dense<R>::Zero(a.cols, b.cols);
  for (index_t k = 0; k < a.rows; ++k) {  // op(A) B = sum_k op(A(k, :)) B(k, :)
    load_row(a, k, a_k), load_row(b, k, b_k);
    if (op == Op::adjoint)
      sum.noalias() += a_k.adjoint() * b_k;
    else
      sum.noalias() += a_k.transpose() * b_k;
  }
  store(alpha, sum, beta, c);  // C = alpha op(A) B + beta C
}

template <class T>
void gram(Op op, result_t<T> alpha, Strided<const T> a, result_t<T> beta, Strided<result_t<T>> c) {
  using R = result_t<T>;
  Dense<R> g(a.cols, a.cols);
  tsmttsm<T>(op, R{1}, a, a, R{}, Strided<R>(HostView<R>(g.data(), g.rows(), g.cols())));
  mirror_upper(op, g);
  store(alpha, g, beta, c);  // C = alpha op(A) A + beta C
}

TS_FOR_EACH_TYPE(TS_FUNCTION, tsmttsm)
TS_FOR_EACH_TYPE(TS_FUNCTION, gram)

}  // namespace ts::inline v0::reference
