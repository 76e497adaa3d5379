#include "tallskinny/app/tsbench/gpu/measure.hpp"

#include <algorithm>
#include <optional>

#include "tallskinny/app/tsbench/gpu/check.hpp"
#include "tallskinny/app/tsbench/gpu/clock.hpp"
#include "tallskinny/app/tsbench/gpu/peers.hpp"
#include "tallskinny/app/tsbench/gpu/run.hpp"

namespace ts::bench {

namespace {

/// The same operands with fewer rows.
template <class T>
DeviceOperands<T> shortened(DeviceOperands<T> o, index_t rows) {
  if (o.problem.operation == Operation::spmm || rows >= o.problem.n) return o;
  o.problem.n = o.x.rows = o.out.rows = rows;
  if (o.problem.operation != Operation::tsm2r) o.y.rows = rows;
  return o;
}

/// Seconds of one run, after `warm_up` others; nothing where the library refuses.
template <class T>
std::optional<double> one_run(const Context& ctx, const GpuPeer<T>& peer, const DeviceOperands<T>& o,
                              int warm_up) {
  try {
    cuda::Event start(ctx.stream), end(ctx.stream);
    for (int r = 0; r < warm_up; ++r) peer.run(o);
    start.record(ctx.stream);
    peer.run(o);
    end.record(ctx.stream);
    return end.seconds_since(start);
  } catch (const Error&) {
    return std::nullopt;
  }
}

template <class T>
Turns turns_of(const std::vector<DeviceOperands<T>>& sets,
               const std::function<void(const DeviceOperands<T>&)>& run) {
  std::vector<std::function<void()>> bodies;
  bodies.reserve(sets.size());
  for (const DeviceOperands<T>& set : sets) bodies.emplace_back([&run, &set] { run(set); });
  return Turns(std::move(bodies));
}

/// The fastest of the vendor's ways, found in heats: some are a thousand times slower than others at some
/// widths, so that all first run on a part of the rows, and only what may win runs on all of them.
template <class T>
void measure_vendor(const Context& ctx, const std::vector<DeviceOperands<T>>& sets, const GpuEffort& effort,
                    const EnergyMeter& meter, GpuMeasured& m) {
  struct Runner {
    GpuPeer<T> peer;
    double seconds;
  };
  std::vector<Runner> runners;
  for (GpuPeer<T>& peer : gpu_peers<T>(ctx, sets.front())) runners.push_back({std::move(peer), 0});
  /// Leaves the fastest `count`, and of these what takes at most `factor` times as long as the first.
  const auto heat = [&](const DeviceOperands<T>& o, int warm_up, std::size_t count, double factor) {
    for (Runner& r : runners) r.seconds = one_run(ctx, r.peer, o, warm_up).value_or(HUGE_VAL);
    std::stable_sort(runners.begin(), runners.end(),
                     [](const Runner& x, const Runner& y) { return x.seconds < y.seconds; });
    std::size_t kept = 0;
    while (kept < std::min(count, runners.size()) && runners[kept].seconds < HUGE_VAL &&
           runners[kept].seconds <= factor * runners.front().seconds)
      ++kept;
    runners.erase(runners.begin() + static_cast<std::ptrdiff_t>(kept), runners.end());
  };
  const DeviceOperands<T>& whole = sets.front();
  heat(shortened(whole, std::max<index_t>(whole.problem.n / 32, 1 << 12)), 1, 6, 4);
  heat(whole, 0, 2, 1.1);
  const Runner* best = nullptr;
  for (const Runner& r : runners) {
    Turns turns = turns_of<T>(sets, r.peer.run);
    const int repetitions = r.seconds > 20 * m.ours.median ? 1 : effort.repetitions;
    const Timing timing = stream_timing(ctx, repetitions, turns);
    if (best == nullptr || timing.median < m.vendor_timing.median)
      best = &r, m.vendor = r.peer.name, m.vendor_timing = timing;
  }
  if (best == nullptr) return;
  Turns turns = turns_of<T>(sets, best->peer.run);
  m.vendor_joules = meter.joules(ctx, effort.energy_seconds, m.vendor_timing.median, turns);
}

template <class T>
GpuMeasured measure(const Context& ctx, GpuPool& pool, const Case& c, const cuda::DeviceInfo& roofs,
                    const GpuEffort& effort) {
  static const EnergyMeter meter(ctx.stream.device());
  const OperandSets<T> o = pool.operands<T>(c);
  const DeviceOperands<T>& first = o.sets.front();
  GpuMeasured m;
  m.described = c;
  m.cost = cost_of(c.problem);
  const cuda::Limits limits = cuda::limits_of(c.problem, roofs);
  m.roof_seconds = std::max(limits.memory_seconds, limits.arithmetic_seconds);
  m.bound = limits.arithmetic_seconds > limits.memory_seconds ? Bound::arithmetic : Bound::memory;
  const auto plans = plans_of(c, ctx.stream.device(), ctx.determinism);
  if (!plans.empty()) m.kernel = plans.front().kernel.family;

  const std::function<void(const DeviceOperands<T>&)> run = [&](const auto& set) { run_on_gpu(ctx, set); };
  run(first);
  const std::uint64_t hash = result_hash(ctx, first);
  m.worst_error = worst_error(ctx, first);
  m.right = m.worst_error <= 1;
  pool.refill(first);
  run(first);
  m.same_bits = result_hash(ctx, first) == hash;
  if (!m.right) return m;

  Turns turns = turns_of<T>(o.sets, run);
  m.ours = stream_timing(ctx, effort.repetitions, turns);
  m.graph_seconds = graph_seconds(ctx, effort.repetitions, m.ours.median, turns);
  m.joules = meter.joules(ctx, effort.energy_seconds, m.ours.median, turns);
  if (effort.peers) measure_vendor<T>(ctx, o.sets, effort, meter, m);
  return m;
}

}  // namespace

GpuMeasured measure(const Context& ctx, GpuPool& pool, const Case& c, const cuda::DeviceInfo& roofs,
                    const GpuEffort& effort) {
#define TS_CASE(T) \
  if (c.problem.type == dtype_of<T>) return measure<T>(ctx, pool, c, roofs, effort);
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
  return {};
}

}  // namespace ts::bench
