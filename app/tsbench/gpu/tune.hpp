// Measuring the kernels among which the planner chooses.
#pragma once

#include "tallskinny/app/tsbench/gpu/pool.hpp"
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

struct ContestResult {
  std::vector<double> seconds;  ///< by candidate; infinite for a winner that was wrong
  std::size_t best = 0;
  [[nodiscard]] double gain() const { return seconds.front() / seconds[best]; }
};
/// Runs each candidate as the engine would, checked and timed.
[[nodiscard]] ContestResult run_contest(const Context& ctx, const GpuPool& pool, const Case& c, const Contest& contest,
                                        int repetitions);

}  // namespace ts::bench
