// Table 1 of Ernst et al. 2020: bandwidth against occupancy and instruction-level parallelism.
#pragma once

#include <iosfwd>
#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::bench {

[[nodiscard]] std::vector<cuda::KernelPlan> occupancy_plans(const cuda::DeviceInfo& device);
/// Measures and prints it beside the paper's figures. The memories are of one size.
void print_occupancy(std::ostream& out, const Context& ctx, const cuda::Memory& source, const cuda::Memory& target);

}  // namespace ts::bench
