// The kernel family `spmm_rows`: how lanes share the columns and the entries of a row.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::cuda {

/// The most columns that one launch computes; wider blocks go through it in slabs.
[[nodiscard]] index_t spmm_widest(DType type) noexcept;

[[nodiscard]] std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
