// Seconds of device work, by events.
#pragma once

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"

namespace ts::app {

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

}  // namespace ts::app
