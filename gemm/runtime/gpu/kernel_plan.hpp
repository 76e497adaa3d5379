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

/// Members of a policy as text, by name: {"p", "8"}.
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
  std::string_view members;  ///< their names: "type, vector"
  friend bool operator==(const PolicyType&, const PolicyType&) = default;
};

struct Source;
/// Device sources that a program carries beside the library's (sources.hpp).
using SourceFiles = std::span<const Source> (*)() noexcept;

/// One kernel `extern "C" __global__ void FAMILY(...)` of kernels/FAMILY.cuh, specialised by a policy, and
/// its launch. Sizes that change from call to call are kernel arguments, never members of a policy.
struct KernelPlan {
  std::string_view family;
  PolicyType policy;
  std::vector<index_t> members;  ///< of the policy, in its order
  unsigned grid = 1, block = 1;
  std::size_t shared_bytes = 0;     ///< dynamic
  std::size_t workspace_bytes = 0;  ///< of Stream::workspace
  Budget budget;
  /// The kernel waits by itself for those before it in the stream (device/cluster.cuh), so that it may start
  /// while they end, where the device can.
  bool overlaps = false;
  bool meets = false;            ///< blocks wait for each other: all of them must have room at once
  SourceFiles beside = nullptr;  ///< where FAMILY.cuh is if the library has none
  friend bool operator==(const KernelPlan&, const KernelPlan&) = default;
};

/// The members of a policy as text, for compilers and people.
[[nodiscard]] Defines defines_of(const PolicyType& type, std::span<const index_t> members);
[[nodiscard]] inline Defines defines_of(const KernelPlan& plan) { return defines_of(plan.policy, plan.members); }

/// @throws Error(invalid_argument) when the policy of `plan` has another type.
void expect_policy(const KernelPlan& plan, const PolicyType& type);

}  // namespace ts::inline v0::cuda
