#include "tallskinny/app/tsbench/gpu_measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tallskinny/app/tsbench/check.hpp"
#include "tallskinny/app/tsbench/gpu_clock.hpp"
#include "tallskinny/app/tsbench/gpu_peers.hpp"
#include "tallskinny/app/tsbench/gpu_run.hpp"

namespace ts::bench {

namespace {

constexpr double long_enough = 3e-4;  // seconds between two events; shorter work is repeated between them

/// Seconds of one body, which come in turns so that none finds its operands in the cache.
Timing timing_of(const Context& ctx, int repetitions, const std::vector<std::function<void()>>& bodies) {
  std::size_t turn = 0;
  const auto next = [&] { bodies[turn++ % bodies.size()](); };
  const double once = best_seconds(ctx, 2, next);
  const int batch = std::clamp(static_cast<int>(std::ceil(long_enough / once)), 1, 200);
  std::vector<double> times = seconds_of(ctx, repetitions, [&] {
    for (int b = 0; b < batch; ++b) next();
  });
  std::sort(times.begin(), times.end());
  return {times.front() / batch, times[times.size() / 2] / batch};
}

double graph_seconds(const Context& ctx, const std::vector<std::function<void()>>& bodies) {
  constexpr int runs = 50;
  const cuda::Graph graph(ctx.stream, [&] {
    for (std::size_t r = 0; r < runs; ++r) bodies[r % bodies.size()]();
  });
  return best_seconds(ctx, 5, [&] { graph.launch(ctx.stream); }) / runs;
}

}  // namespace

std::vector<cuda::KernelPlan> plans_of(const Problem& problem, const cuda::DeviceInfo& device) {
  cuda::GpuProblem p;
  p.problem = problem;
  p.op = problem.operation == Operation::tsmttsm || problem.operation == Operation::gram ? Op::adjoint
                                                                                         : Op::none;
  if (problem.operation == Operation::tsmm_in_place) p.out = p.first;
  for (const cuda::Family& family : cuda::families())
    if (!family.candidates(p, device).empty()) return {cuda::make_plan(p, device).kernel};
  return {};
}

template <class T>
GpuMeasured measure(const Context& ctx, GpuPool<T>& pool, const Problem& wanted,
                    const cuda::DeviceInfo& roofs, const GpuEffort& effort) {
  const GpuOperands<T> o = pool.operands(wanted);
  GpuMeasured m;
  m.problem = o.sets.front().problem;
  m.cost = cost_of(m.problem);
  const cuda::Limits limits = cuda::limits_of(m.problem, roofs);
  m.roof_seconds = std::max(limits.memory_seconds, limits.arithmetic_seconds);
  m.bound = limits.arithmetic_seconds > limits.memory_seconds ? Bound::arithmetic : Bound::memory;
  const auto plans = plans_of(m.problem, ctx.stream.device());
  if (!plans.empty()) m.kernel = plans.front().family;

  const auto run = [&](const Operands<T>& set) { run_on_gpu(ctx, set, o.sparse); };
  {
    const Check<T> check(o.part);
    run(o.sets.front());
    const auto bits = pool.result_bits(o);
    pool.download(o);
    m.worst_error = check.worst_error();
    m.right = m.worst_error <= 1 && pool.repeats(o);
    pool.refill(o);
    run(o.sets.front());
    m.same_bits = pool.result_bits(o) == bits;
  }
  if (!m.right) return m;

  std::vector<std::function<void()>> ours;
  for (const Operands<T>& set : o.sets) ours.emplace_back([&run, &set] { run(set); });
  m.ours = timing_of(ctx, effort.repetitions, ours);
  if (m.ours.median < long_enough / 3) m.graph_seconds = graph_seconds(ctx, ours);
  if (!effort.peers) return m;
  for (const GpuPeerBody<T>& peer : gpu_peers<T>(ctx, m.problem)) {
    std::vector<std::function<void()>> bodies;
    for (const Operands<T>& set : o.sets) bodies.emplace_back([&peer, &set] { peer.run(set); });
    const Timing timing = timing_of(ctx, effort.repetitions, bodies);
    if (m.best_peer.name.empty() || timing.median < m.best_peer.timing.median)
      m.best_peer = {peer.name, timing};
  }
  return m;
}

#define TS_INSTANTIATE(T)                                                                               \
  template GpuMeasured measure<T>(const Context&, GpuPool<T>&, const Problem&, const cuda::DeviceInfo&, \
                                  const GpuEffort&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
