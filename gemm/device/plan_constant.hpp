// What a plan fixed, read back from its defines.
#pragma once

#include <algorithm>

#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::cuda {

/// A constant that specialises the kernel, which it has.
[[nodiscard]] inline int constant_of(const KernelPlan& plan, std::string_view name) {
  const auto found =
      std::find_if(plan.defines.begin(), plan.defines.end(), [&](const auto& define) { return define.first == name; });
  return std::stoi(found->second);
}

}  // namespace ts::cuda
