// In which ways NVIDIA's libraries could serve a problem.
#pragma once

#include "tallskinny/gemm/library/policy.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::inline v0::cuda {

/// Dense products by cuBLAS. None at level gpu_to_gpu, whose bits depend on no library's version, where ranks
/// share the rows, and for 16-bit X S, whose S has 32 bits. Sums over rows are cut into slabs, since a library adds in
/// the type of the result: only those of float64 may be whole.
[[nodiscard]] std::vector<Candidate> cublas_candidates(const GpuProblem& problem, const DeviceInfo& device);

/// A X by cuSPARSE, row-major, A not shifted and not conjugated. None at level gpu_to_gpu, where Y is added to, and for
/// matrices with rows of more than 128 entries: of those the bits of CUSPARSE_SPMM_CSR_ALG3 were seen to change from
/// run to run, though it is documented to repeat them. Two sums of a row are the same in either order, more are not.
[[nodiscard]] std::vector<Candidate> cusparse_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::inline v0::cuda
