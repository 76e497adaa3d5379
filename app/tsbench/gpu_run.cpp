#include "tallskinny/app/tsbench/gpu_run.hpp"

#include "tallskinny/app/tsbench/gpu_measure.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::bench {

bool on_gpu(Operation op) noexcept {
  return op != Operation::inner_and_gram && op != Operation::project_out;
}

template <class T>
void run_on_gpu(const Context& ctx, const Operands<T>& o, CsrView<T, Space::device> sparse) {
  using R = result_t<T>;
  constexpr bool result_type = std::is_same_v<T, R>;
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  const DeviceView<const T> x(o.x, n, p);
  switch (o.problem.operation) {
    case Operation::tsmttsm:
      return tsmttsm(ctx, Op::adjoint, R{1}, x, DeviceView<const T>(o.y, n, q), R{},
                     DeviceView<R>(o.result, p, q));
    case Operation::gram:
      return gram(ctx, Op::adjoint, R{1}, x, R{}, DeviceView<R>(o.result, p, p));
    case Operation::tsmm:
      return tsmm(ctx, Op::none, R{1}, x, DeviceView<const R>(o.small, p, q), R{},
                  DeviceView<R>(o.out, n, q));
    case Operation::tsmm_in_place:
      if constexpr (result_type)
        tsmm_in_place(ctx, Op::none, R{1}, DeviceView<R>(o.out, n, p), DeviceView<const R>(o.small, p, q));
      return;
    case Operation::tsm2r:
      return tsm2r(ctx, Op::none, R{1}, x, DeviceView<const T>(o.y, p, q), R{}, DeviceView<R>(o.out, n, q));
    case Operation::spmm:
      return spmm(ctx, Op::none, R{1}, sparse, DeviceView<const T>(o.x, p, q), R{},
                  DeviceView<R>(o.out, n, q));
    case Operation::column_norms:
      return column_norms(ctx, x, DeviceView<real_t<T>>(reinterpret_cast<real_t<T>*>(o.result), 1, p));
    case Operation::trsm:
      if constexpr (result_type) trsm(ctx, DeviceView<R>(o.out, n, p), DeviceView<const R>(o.small, p, p));
      return;
    case Operation::inner_and_gram:
    case Operation::project_out:
      return;
  }
}

#define TS_INSTANTIATE(T) \
  template void run_on_gpu<T>(const Context&, const Operands<T>&, CsrView<T, Space::device>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
