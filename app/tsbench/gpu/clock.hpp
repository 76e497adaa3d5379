// Timing of device work by events.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tallskinny/app/tsbench/measure.hpp"
#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/backend/cuda/graph.hpp"

namespace ts::bench {

/// Seconds of each of `repetitions` runs of work(), after one that is not counted.
template <class Work>
[[nodiscard]] std::vector<double> seconds_of(const Context& ctx, int repetitions, Work&& work) {
  cuda::Event start(ctx.stream), end(ctx.stream);
  std::vector<double> times;
  work();
  for (int r = 0; r < repetitions; ++r) {
    start.record(ctx.stream);
    work();
    end.record(ctx.stream);
    times.push_back(end.seconds_since(start));
  }
  return times;
}

template <class Work>
[[nodiscard]] double best_seconds(const Context& ctx, int repetitions, Work&& work) {
  const auto times = seconds_of(ctx, repetitions, work);
  return *std::min_element(times.begin(), times.end());
}

/// The same work on several sets of operands, which come in turns so that none is in the cache.
class Turns {
 public:
  explicit Turns(std::vector<std::function<void()>> bodies) : bodies_(std::move(bodies)) {}
  void next() { bodies_[turn_++ % bodies_.size()](); }

 private:
  std::vector<std::function<void()>> bodies_;
  std::size_t turn_ = 0;
};

inline constexpr double long_enough =
    3e-4;  // seconds between two events; shorter work is repeated between them

/// Seconds of one turn as the stream gives them.
[[nodiscard]] inline Timing stream_timing(const Context& ctx, int repetitions, Turns& turns) {
  const double once = best_seconds(ctx, 1, [&] { turns.next(); });
  const int batch = std::clamp(static_cast<int>(std::ceil(long_enough / once)), 1, 200);
  std::vector<double> times = seconds_of(ctx, repetitions, [&] {
    for (int b = 0; b < batch; ++b) turns.next();
  });
  std::sort(times.begin(), times.end());
  return {times.front() / batch, times[times.size() / 2] / batch};
}

/// Seconds of one turn in a captured graph, which shows what starting kernels one by one costs.
[[nodiscard]] inline double graph_seconds(const Context& ctx, int repetitions, double about, Turns& turns) {
  const int runs = std::clamp(static_cast<int>(std::ceil(2 * long_enough / about)), 1, 100);
  const cuda::Graph graph(ctx.stream, [&] {
    for (int r = 0; r < runs; ++r) turns.next();
  });
  std::vector<double> times = seconds_of(ctx, repetitions, [&] { graph.launch(ctx.stream); });
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / runs;
}

}  // namespace ts::bench
