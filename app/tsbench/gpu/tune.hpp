// Measuring the kernels among which the planner chooses.
#pragma once

#include "tallskinny/app/tsbench/gpu/device.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"

namespace ts::bench {

/// The candidates of a case that are worth measuring, the model's choice first, and what tells each from the
/// others. Pure.
struct Contest {
  cuda::GpuProblem problem;
  std::vector<cuda::KernelPlan> kernels;
  std::vector<double> seconds;  ///< as predicted
  std::vector<cuda::Defines> marks;
};
[[nodiscard]] Contest contest_of(const Case& c, const cuda::DeviceInfo& device, std::size_t most);

/// "lanes=4 unroll=2"
[[nodiscard]] std::string text_of(const cuda::Defines& defines);

/// From now on the stream's table names candidate k, and nothing else.
void choose(const Context& ctx, const Contest& contest, std::size_t k);

}  // namespace ts::bench
