#include "tallskinny/gemm/core/eigen_reference.hpp"
#include "tallskinny/gemm/project/detail.hpp"

namespace ts::inline v0::reference {

template <class T>
void project_out(Strided<const T> v, Strided<const T> s, Strided<T> w, Strided<T> s_next, Strided<T> g) {
  const Dense<T> s_copy = copy_of(Op::none, s);
  Dense<T> s_sum = Dense<T>::Zero(s_next.rows, s_next.cols), g_sum = Dense<T>::Zero(g.rows, g.cols);
  Row<T> v_k, w_k;
  for (index_t k = 0; k < w.rows; ++k) {
    load_row(v, k, v_k), load_row(w, k, w_k);
    w_k.noalias() -= v_k * s_copy;  // W(k, :) -= V(k, :) S
    store_row(T{1}, w_k, T{}, w, k);
    if (!s_next.empty()) s_sum.noalias() += v_k.adjoint() * w_k;  // S_next = V^H W
    if (!g.empty()) g_sum.noalias() += w_k.adjoint() * w_k;       // G = W^H W
  }
  mirror_upper(Op::adjoint, g_sum);
  store(T{1}, s_sum, T{}, s_next);
  store(T{1}, g_sum, T{}, g);
}

template <class T>
void inner_and_gram(Strided<const T> v, Strided<const T> w, Strided<T> s, Strided<T> g) {
  Dense<T> s_sum = Dense<T>::Zero(s.rows, s.cols), g_sum = Dense<T>::Zero(g.rows, g.cols);
  Row<T> v_k, w_k;
  for (index_t k = 0; k < w.rows; ++k) {
    load_row(v, k, v_k), load_row(w, k, w_k);
    if (!s.empty()) s_sum.noalias() += v_k.adjoint() * w_k;  // S = V^H W
    g_sum.noalias() += w_k.adjoint() * w_k;                  // G = W^H W
  }
  mirror_upper(Op::adjoint, g_sum);
  store(T{1}, s_sum, T{}, s);
  store(T{1}, g_sum, T{}, g);
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, inner_and_gram)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, project_out)

}  // namespace ts::inline v0::reference
