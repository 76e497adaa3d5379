// The kernel family `trsm`: how many rows and columns are solved at once, and where X and R are kept.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::cuda {

/// The numbers of trsm/kernels/trsm.cuh that are free to choose.
struct TrsmTiling {
  enum class Access { in_place = 0, staged = 1, whole_rows = 2 };  ///< as the kernel numbers them
  Access access = Access::in_place;
  bool factor_shared = false;
  index_t threads = 128;
  index_t columns = 1;   ///< solved at once, in registers
  index_t together = 1;  ///< rows that a thread has under way
  index_t blocks = 1;    ///< on a multiprocessor at the same time
};

/// Every tiling that can run `problem` on `device`, the one that measurements favour first.
[[nodiscard]] std::vector<TrsmTiling> trsm_tilings(const GpuProblem& problem, const DeviceInfo& device);
[[nodiscard]] KernelPlan trsm_plan(const GpuProblem& problem, const TrsmTiling& tiling,
                                   const DeviceInfo& device);

[[nodiscard]] std::vector<Candidate> trsm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
