#include "tallskinny/app/tsbench/gpu/place.hpp"

#include <optional>

#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/tsbench/gpu/clock.hpp"
#include "tallskinny/app/tsbench/gpu/tune.hpp"
#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::bench {

namespace {

/// Compiles everything before anything takes memory.
GpuPool prepared_pool(const Context& ctx, const std::vector<Case>& cases) {
  const cuda::DeviceInfo& device = ctx.stream.device();
  std::vector<cuda::KernelPlan> plans = app::roof_plans(device);
  const auto take = [&](const std::vector<cuda::KernelPlan>& some) {
    plans.insert(plans.end(), some.begin(), some.end());
  };
  for (const DType type : every_dtype) take(bench_plans(type));
  for (const Case& c : cases) take(kernels_of(c, device, ctx.determinism));
  cuda::prepare(ctx, plans);
  return GpuPool(ctx, cases);
}

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
std::optional<double> one_run(const Context& ctx, const DevicePeer<T>& peer, const DeviceOperands<T>& o, int warm_up) {
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
Turns turns_of(const std::vector<DeviceOperands<T>>& sets, const std::function<void(const DeviceOperands<T>&)>& run) {
  std::vector<std::function<void()>> bodies;
  bodies.reserve(sets.size());
  for (const DeviceOperands<T>& set : sets) bodies.emplace_back([&run, &set] { run(set); });
  return Turns(std::move(bodies));
}

/// The vendor's ways and what they took, the fastest first.
template <class T>
struct Heats {
  struct Runner {
    DevicePeer<T> peer;
    double seconds;
  };
  const Context& ctx;
  std::vector<Runner> runners;

  /// Runs all, and leaves the fastest `count`, and of these what takes at most `factor` times as long as the first.
  void heat(const DeviceOperands<T>& o, int warm_up, std::size_t count, double factor) {
    for (Runner& r : runners) r.seconds = one_run(ctx, r.peer, o, warm_up).value_or(HUGE_VAL);
    std::stable_sort(runners.begin(), runners.end(),
                     [](const Runner& x, const Runner& y) { return x.seconds < y.seconds; });
    std::size_t kept = 0;
    while (kept < std::min(count, runners.size()) && runners[kept].seconds < HUGE_VAL &&
           runners[kept].seconds <= factor * runners.front().seconds)
      ++kept;
    runners.erase(runners.begin() + static_cast<std::ptrdiff_t>(kept), runners.end());
  }
};

}  // namespace

GpuPlace::GpuPlace(const Context& ctx, const std::vector<Case>& cases)
    : ctx_(ctx),
      pool_(prepared_pool(ctx, cases)),
      roofs_(app::measure_gpu_roofs(ctx, pool_.source(), pool_.target())) {}

template <class T>
std::uint64_t GpuPlace::bits_of(const DeviceOperands<T>& o) const {
  using R = result_t<T>;
  const Operation op = o.problem.operation;
  if (op == Operation::inner_and_gram || op == Operation::project_out) {
    const std::uint64_t tall = o.out.empty() ? 0 : hash_of<R>(ctx_, o.out);
    return tall + hash_of<R>(ctx_, o.result) + 3 * hash_of<R>(ctx_, o.gram);
  }
  if (tall_result(op)) return hash_of<R>(ctx_, o.out);
  if (op == Operation::column_norms)
    return hash_of<real_t<T>>(ctx_, {reinterpret_cast<real_t<T>*>(o.result.data), 1, o.problem.p, o.problem.p, 1});
  return hash_of<R>(ctx_, o.result);
}

/// The fastest of the vendor's ways, found in heats: some are a thousand times slower than others at some
/// widths, so that all first run on a part of the rows, and only what may win runs on all of them.
template <class T>
void GpuPlace::time_vendor(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const {
  Heats<T> heats{ctx_, {}};
  for (DevicePeer<T>& peer : peers_of(ctx_, sets.front())) heats.runners.push_back({std::move(peer), 0});
  const DeviceOperands<T>& whole = sets.front();
  heats.heat(shortened(whole, std::max<index_t>(whole.problem.n / 32, 1 << 12)), 1, 6, 4);
  heats.heat(whole, 0, 2, 1.1);
  const DevicePeer<T>* best = nullptr;
  PeerTiming found;
  for (const auto& r : heats.runners) {
    Turns turns = turns_of<T>(sets, r.peer.run);
    const int repetitions = r.seconds > 20 * m.ours.median ? 1 : effort.repetitions;
    const Timing timing = stream_timing(ctx_, repetitions, turns);
    if (best == nullptr || timing.median < found.timing.median)
      best = &r.peer, found = {best->library, best->way, timing};
  }
  if (best != nullptr) m.peers.push_back(std::move(found));
}

/// Every kernel that the planner may choose, each checked: the planner takes what a tuned table of one row names.
template <class T>
void GpuPlace::time_candidates(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const {
  const Contest contest = contest_of(m.described, ctx_.stream.device(), SIZE_MAX);
  const auto own = ctx_.stream.device().tuned;
  const DeviceOperands<T>& first = sets.front();
  for (std::size_t k = 0; k < contest.kernels.size(); ++k) {
    auto table = std::make_shared<cuda::TunedTable>();
    table->set(cuda::tuned_key(contest.problem), {contest.marks[k], 1});
    ctx_.stream.choose_by(std::move(table));
    CandidateTiming timing{std::string(contest.kernels[k].family) + " " + text_of(contest.marks[k]),
                           contest.seconds[k]};
    cuda::fill_bytes(ctx_.stream, first.out.data, 0xff,
                     m.described.tall_bytes(first.out.rows, first.out.cols, sizeof(result_t<T>)));
    run(ctx_, first);
    const std::uint64_t bits = bits_of(first);
    timing.right = worst_error(ctx_, first) <= 1;
    Turns turns = turns_of<T>(sets, [&](const auto& set) { run(ctx_, set); });
    timing.seconds = stream_timing(ctx_, effort.repetitions, turns).median;
    timing.same_bits = bits_of(first) == bits;
    m.right = m.right && timing.right, m.same_bits = m.same_bits && timing.same_bits;
    m.candidates.push_back(std::move(timing));
  }
  ctx_.stream.choose_by(own);
}

template <class T>
void GpuPlace::time(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const {
  const std::function<void(const DeviceOperands<T>&)> body = [&](const auto& set) { run(ctx_, set); };
  Turns turns = turns_of<T>(sets, body);
  m.ours = stream_timing(ctx_, effort.repetitions, turns);
  m.graph_seconds = graph_seconds(ctx_, effort.repetitions, m.ours.median, turns);
  if (effort.peers) time_vendor<T>(sets, effort, m);
  if (m.described.problem.operation == Operation::spmm) time_candidates<T>(sets, effort, m);
}

void GpuPlace::judge(Measured& m) const {
  const cuda::LeastTimes limits = cuda::least_times(m.described.problem, roofs_);
  m.roof_seconds = std::max(limits.memory_seconds, limits.arithmetic_seconds);
  m.bound = limits.arithmetic_seconds > limits.memory_seconds ? Bound::arithmetic : Bound::memory;
  const auto plans = plans_of(m.described, ctx_.stream.device(), ctx_.determinism);
  if (!plans.empty()) m.kernel = plans.front().kernel.family;
}

Measured GpuPlace::measure(const Case& c, const Effort& effort) {
  return by_type(c.problem.type, [&]<class T>(std::type_identity<T>) { return measure_on<T>(*this, c, effort); });
}

}  // namespace ts::bench
