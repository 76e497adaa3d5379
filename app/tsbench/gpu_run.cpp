#include "tallskinny/app/tsbench/gpu_run.hpp"

#include "tallskinny/app/tsbench/gpu_measure.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"

namespace ts::bench {

bool on_gpu(Operation op) noexcept {
  switch (op) {
    case Operation::column_norms:
    case Operation::spmm:
    case Operation::trsm:
      return true;
    default:
      return false;
  }
}

template <class T>
void run_on_gpu(const Context& ctx, const Operands<T>& o, CsrView<T, Space::device> sparse) {
  using R = result_t<T>;
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  switch (o.problem.operation) {
    case Operation::column_norms:
      return column_norms(ctx, DeviceView<const T>(o.x, n, p),
                          DeviceView<real_t<T>>(reinterpret_cast<real_t<T>*>(o.result), 1, p));
    case Operation::spmm:
      return spmm(ctx, Op::none, R{1}, sparse, DeviceView<const T>(o.x, p, q), R{},
                  DeviceView<R>(o.out, n, q));
    case Operation::trsm:
      if constexpr (std::is_same_v<T, R>)
        trsm(ctx, DeviceView<R>(o.out, n, p), DeviceView<const R>(o.small, p, p));
      return;
    default:
      return;
  }
}

#define TS_INSTANTIATE(T) \
  template void run_on_gpu<T>(const Context&, const Operands<T>&, CsrView<T, Space::device>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
