// Timing of device work that comes in turns.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tallskinny/app/common/gpu_clock.hpp"
#include "tallskinny/app/tsbench/measure.hpp"

namespace ts::bench {

using app::best_seconds;
using app::seconds_of;

/// The same work on several sets of operands, which come in turns so that none is in the cache.
class Turns {
 public:
  explicit Turns(std::vector<std::function<void()>> bodies) : bodies_(std::move(bodies)) {}
  void next() { bodies_[turn_++ % bodies_.size()](); }

 private:
  std::vector<std::function<void()>> bodies_;
  std::size_t turn_ = 0;
};

inline constexpr double long_enough = 3e-4;  // seconds between two events; shorter work is repeated between them

/// Seconds of one turn as the stream gives them.
[[nodiscard]] inline Timing stream_timing(const Context& ctx, int repetitions, Turns& turns) {
  const double once = best_seconds(ctx, 1, [&] { turns.next(); });
  const int batch = std::clamp(static_cast<int>(std::ceil(long_enough / once)), 1, 200);
  return timing_of(seconds_of(ctx, repetitions,
                              [&] {
                                for (int b = 0; b < batch; ++b) turns.next();
                              }),
                   batch);
}

/// Seconds of one turn in a captured graph, which shows what starting kernels one by one costs.
[[nodiscard]] inline double graph_seconds(const Context& ctx, int repetitions, double about, Turns& turns) {
  const int runs = std::clamp(static_cast<int>(std::ceil(2 * long_enough / about)), 1, 100);
  const cuda::Graph graph(ctx.stream, [&] {
    for (int r = 0; r < runs; ++r) turns.next();
  });
  return timing_of(seconds_of(ctx, repetitions, [&] { graph.launch(ctx.stream); }), runs).median;
}

}  // namespace ts::bench
