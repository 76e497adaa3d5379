// The kernel family `tsmttsm`: inner products of tall operands, and TSM2R, which is one: the rows of D are
// the columns of a tall matrix that is read once, in panels.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/tsmttsm/search.hpp"

namespace ts::inline v0::cuda {

/// Scalars (twice the width for complex types) of a row of B that one launch can take; a wider B is cut by
/// the caller. Tiles of that square are also what one panel of A can have.
inline constexpr index_t inner_scalars_max = 128;
/// This many however the operands lie, for every type on every device: sums of that square fit into its shared memory.
inline constexpr index_t inner_scalars_any = 64;

/// Columns of the panels of a B that a kernel takes beside A; of TSM2R, whose A is D, of X.
[[nodiscard]] index_t inner_width(const GpuProblem& problem, const DeviceInfo& device) noexcept;
/// Columns of the blocks of a Gram matrix: all at once where a kernel takes them, else panels, which it takes however
/// they lie. All ranks cut alike, and at the level gpu_to_gpu all devices.
[[nodiscard]] index_t gram_width(const GpuProblem& problem, const DeviceInfo& device, bool distributed) noexcept;

/// Columns of A that a block of this kernel takes.
[[nodiscard]] int inner_panel_of(const KernelPlan& plan);
/// The problem with A cut into panels of so many columns.
[[nodiscard]] InnerProblem inner_problem_of(const GpuProblem& problem, index_t panel);
/// Of how many panels a candidate takes care.
[[nodiscard]] index_t inner_panels(const GpuProblem& problem, const KernelPlan& plan);

/// A problem that one kernel cannot take has one candidate, without a kernel: the products that it is cut into.
[[nodiscard]] std::vector<Candidate> inner_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::inline v0::cuda
