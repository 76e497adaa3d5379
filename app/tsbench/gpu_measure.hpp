// Checking and timing one case on the GPU.
#pragma once

#include <string>

#include "tallskinny/app/tsbench/gpu_operands.hpp"
#include "tallskinny/app/tsbench/measure.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::bench {

struct GpuPeer {
  std::string name;  ///< "gemm", "syrk", ...
  Timing timing;
};

struct GpuMeasured {
  Problem problem;
  std::string kernel;  ///< the family that ran, where the planner tells
  Cost cost;
  double roof_seconds = 0;  ///< all bytes at the roof, or all flops at the peak
  Bound bound = Bound::memory;
  Timing ours;
  double graph_seconds = 0;  ///< of one run in a captured graph; 0: not measured
  GpuPeer best_peer;         ///< the fastest of the vendor's ways; no name: it has none
  double worst_error = 0;    ///< relative to the bound: at most 1, or the case is not timed
  bool right = true, same_bits = true;

  [[nodiscard]] double bytes_per_second() const { return cost.bytes() / ours.median; }
  [[nodiscard]] double roof_share() const { return roof_seconds / ours.median; }
};

struct GpuEffort {
  int repetitions = 11;
  bool peers = true;
};

/// Whether the GPU engine has this operation.
[[nodiscard]] bool on_gpu(Operation op) noexcept;

/// The plan of a case, for compiling many at once; nothing where the planner does not know the operation.
[[nodiscard]] std::vector<cuda::KernelPlan> plans_of(const Problem& problem, const cuda::DeviceInfo& device);

/// `roofs`: the device with rates as measured in this run.
template <class T>
[[nodiscard]] GpuMeasured measure(const Context& ctx, GpuPool<T>& pool, const Problem& problem,
                                  const cuda::DeviceInfo& roofs, const GpuEffort& effort);

}  // namespace ts::bench
