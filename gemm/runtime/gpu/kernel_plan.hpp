// A kernel to be compiled and how to start it: plain values, made without a GPU.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::cuda {

/// The members of the policy that specialises a kernel, by name: {"p", "8"}.
using Defines = std::vector<std::pair<std::string, std::string>>;

/// What a compiled kernel may use; spills are never allowed.
struct Budget {
  int registers = 255;   ///< per thread
  int shared_bytes = 0;  ///< static, beside KernelPlan::shared_bytes
  friend bool operator==(const Budget&, const Budget&) = default;
};

/// The type of a policy (policy.hpp); empty for kernels that have none.
struct PolicyType {
  std::string_view header, name;
  friend bool operator==(const PolicyType&, const PolicyType&) = default;
};

struct Source;
/// Device sources that a program carries beside the library's (sources.hpp).
using SourceFiles = std::span<const Source> (*)() noexcept;

/// One kernel `extern "C" __global__ void FAMILY(...)` of kernels/FAMILY.cuh, specialised by `defines`, and
/// its launch. Sizes that change from call to call are kernel arguments, never defines.
struct KernelPlan {
  std::string_view family;
  PolicyType policy;
  Defines defines;  ///< the members of the policy
  unsigned grid = 1, block = 1;
  std::size_t shared_bytes = 0;     ///< dynamic
  std::size_t workspace_bytes = 0;  ///< of Stream::workspace
  Budget budget;
  /// The kernel waits by itself for those before it in the stream (device/cluster.cuh), so that it may start
  /// while they end, from sm_90 on.
  bool overlaps = false;
  bool meets = false;            ///< blocks wait for each other: all of them must have room at once
  SourceFiles beside = nullptr;  ///< where FAMILY.cuh is if the library has none
  friend bool operator==(const KernelPlan&, const KernelPlan&) = default;
};

/// @throws Error(invalid_argument) when the policy of `plan` has another type.
void expect_policy(const KernelPlan& plan, const PolicyType& type);

}  // namespace ts::inline v0::cuda
