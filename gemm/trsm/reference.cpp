#include "tallskinny/gemm/core/eigen_reference.hpp"
#include "tallskinny/gemm/trsm/detail.hpp"

namespace ts::inline v0::reference {

template <class T>
void trsm(Strided<T> x, Strided<const T> r) {
  const Dense<T> upper = copy_of(Op::none, r);
  Row<T> x_i;
  for (index_t i = 0; i < x.rows; ++i) {
    load_row(x, i, x_i);
    for (index_t j = 0; j < x.cols; ++j) {  // x_j = (x_j - sum_{k < j} x_k R(k, j)) / R(j, j)
      for (index_t k = 0; k < j; ++k) x_i(j) -= x_i(k) * upper(k, j);
      x_i(j) /= upper(j, j);
    }
    store_row(T{1}, x_i, T{}, x, i);
  }
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, trsm)

}  // namespace ts::inline v0::reference
