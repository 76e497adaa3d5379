#include "tallskinny/app/tsbench/measure.hpp"

#include <algorithm>
#include <functional>

#include "tallskinny/app/common/stopwatch.hpp"
#include "tallskinny/app/tsbench/check.hpp"
#include "tallskinny/app/tsbench/peers.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::bench {

namespace {

/// The operations that exist for result types only.
template <class R>
void run_result_type(const Context& ctx, const Operands<R>& o) {
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  const HostView<const R> v(o.x, n, p), s(o.small, p, o.problem.operation == Operation::trsm ? p : q);
  switch (o.problem.operation) {
    case Operation::tsmm_in_place:
      return tsmm_in_place(ctx, Op::none, R{1}, HostView<R>(o.out, n, p), s);
    case Operation::inner_and_gram:
      return inner_and_gram(ctx, v, HostView<const R>(o.y, n, q), HostView<R>(o.result, p, q),
                            HostView<R>(o.gram, q, q));
    case Operation::project_out:
      return project_out(ctx, v, s, HostView<R>(o.out, n, q), HostView<R>(o.result, p, q),
                         HostView<R>(o.gram, q, q));
    case Operation::trsm:
      return trsm(ctx, HostView<R>(o.out, n, p), s);
    default:
      break;
  }
}

template <class T>
void run(const Context& ctx, const Operands<T>& o) {
  using R = result_t<T>;
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  switch (o.problem.operation) {
    case Operation::tsmttsm:
      return tsmttsm(ctx, Op::adjoint, R{1}, HostView<const T>(o.x, n, p), HostView<const T>(o.y, n, q), R{},
                     HostView<R>(o.result, p, q));
    case Operation::gram:
      return gram(ctx, Op::adjoint, R{1}, HostView<const T>(o.x, n, p), R{}, HostView<R>(o.result, p, p));
    case Operation::tsmm:
      return tsmm(ctx, Op::none, R{1}, HostView<const T>(o.x, n, p), HostView<const R>(o.small, p, q), R{},
                  HostView<R>(o.out, n, q));
    case Operation::tsm2r:
      return tsm2r(ctx, Op::none, R{1}, HostView<const T>(o.x, n, p), HostView<const T>(o.y, p, q), R{},
                   HostView<R>(o.out, n, q));
    case Operation::spmm:
      return spmm(ctx, Op::none, R{1}, o.sparse, HostView<const T>(o.x, p, q), R{}, HostView<R>(o.out, n, q));
    case Operation::column_norms: {
      std::vector<real_t<T>> norms(static_cast<std::size_t>(p));
      column_norms(ctx, HostView<const T>(o.x, n, p), std::span<real_t<T>>(norms));
      std::copy(norms.begin(), norms.end(), o.result);
      return;
    }
    default:
      if constexpr (std::is_same_v<T, R>) run_result_type(ctx, o);
  }
}

/// Repeated runs of one contestant.
class Contestant {
 public:
  explicit Contestant(std::function<void()> body) : body_(std::move(body)) {}
  void run_once(double seconds_allowed) {
    if (!body_ || spent_ > seconds_allowed) return;
    const app::Stopwatch watch;
    body_();
    times_.push_back(watch.seconds());
    spent_ += times_.back();
  }
  [[nodiscard]] Timing timing() const {
    if (times_.empty()) return {};
    std::vector<double> sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    return {sorted.front(), sorted[sorted.size() / 2]};
  }

 private:
  std::function<void()> body_;
  std::vector<double> times_;
  double spent_ = 0;
};

DeviceInfo device_with(const Roofs& roofs, int threads) {
  DeviceInfo device = this_cpu();
  device.threads = threads;
  device.read_bytes_per_second = roofs.read_bytes_per_second;
  device.copy_bytes_per_second = roofs.copy_bytes_per_second;
  device.float64_flops = roofs.float64_flops;
  device.float32_flops = roofs.float32_flops;
  return device;
}

}  // namespace

double Measured::roof_seconds() const {
  // A reduction writes nothing to speak of; what writes tall results is held against a copy.
  const bool writes = plan.cost.written_bytes * 20 > plan.cost.read_bytes;
  const double memory =
      plan.cost.bytes() / (writes ? roofs.copy_bytes_per_second : roofs.read_bytes_per_second);
  const bool double_precision = plan.problem.type == DType::float64 || plan.problem.type == DType::complex128;
  return std::max(memory, plan.cost.flops / (double_precision ? roofs.float64_flops : roofs.float32_flops));
}

template <class T>
Measured measure(Pool<T>& pool, const Problem& problem, const Effort& effort) {
  Context ctx;
  ctx.threads = effort.threads;
  ctx.simd = effort.simd;
  ctx.implementation = effort.implementation;
  const int threads = ctx.thread_count();
  set_eigen_threads(threads);
  set_openblas_threads(threads);

  const Operands<T> o = pool.operands(problem);
  Measured m;
  {
    const Check<T> check(o);
    run(ctx, o);
    m.worst_error = check.worst_error();
    m.refused = !(m.worst_error <= 1);
  }
  if (!m.refused) {
    Contestant ours([&] { run(ctx, o); });
    Contestant eigen(effort.peers ? eigen_peer(o) : nullptr),
        openblas(effort.peers ? openblas_peer(o) : nullptr);
    for (int r = 0; r < effort.repetitions; ++r) {
      ours.run_once(effort.seconds_per_contestant);
      app::measure_roofs(pool.roof_source(), pool.roof_target(), threads, m.roofs);
      ours.run_once(effort.seconds_per_contestant);
      eigen.run_once(effort.seconds_per_contestant);
      openblas.run_once(effort.seconds_per_contestant);
    }
    m.ours = ours.timing();
    m.eigen = eigen.timing();
    m.openblas = openblas.timing();
  } else {
    app::measure_roofs(pool.roof_source(), pool.roof_target(), threads, m.roofs);
  }
  PlanOverrides wish;
  wish.simd = effort.simd;
  m.plan = make_plan(problem, device_with(m.roofs, threads), wish);
  return m;
}

#define TS_INSTANTIATE(T) template Measured measure<T>(Pool<T>&, const Problem&, const Effort&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
