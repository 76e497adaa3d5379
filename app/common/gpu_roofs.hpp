// Roofs of a GPU, which measured operations are judged against, and timing of device work in seconds.
#pragma once

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::app {

/// The kernels that measure: reading by bulk copies (where there are such) and by loads, and each arithmetic
/// unit.
[[nodiscard]] std::vector<cuda::KernelPlan> roof_plans(const cuda::DeviceInfo& device);

/// How a block reads: so many chunks under way; by loads if that is 0.
struct ReadRing {
  int chunk = 1 << 14;  ///< bytes
  int stages = 0;
};
/// Bytes per second at which `source` is read, the best of five times.
[[nodiscard]] double read_rate(const Context& ctx, const cuda::Memory& source, const cuda::Memory& target,
                               const ReadRing& ring);

/// The device of ctx.stream with its rates as measured now: reading and copying `source` (far larger than the
/// caches) to `target`, multiply-adds from registers, and starting a kernel behind another. The best of several rounds.
[[nodiscard]] cuda::DeviceInfo measure_gpu_roofs(const Context& ctx, const cuda::Memory& source,
                                                 const cuda::Memory& target);

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
