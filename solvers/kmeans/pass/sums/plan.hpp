// The kernels that add up the rows that change clusters on a GPU: pure functions of shapes and device.
#pragma once

#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/policy.hpp"

namespace ts::inline v0::cuda {

/// assign/sums/kernels/sums_sort.cuh for so many moves, whose entries are put in order, or counted.
[[nodiscard]] KernelPlan sums_sort_plan(bool put, index_t clusters, index_t moves, const DeviceInfo& device);
/// assign/sums/kernels/sums_add.cuh for so many entries at most; weighed: rows have weights, or factors are
/// not to be multiplied.
[[nodiscard]] KernelPlan sums_add_plan(const RowsForm& form, bool weighed, index_t entries, const DeviceInfo& device);

}  // namespace ts::inline v0::cuda
