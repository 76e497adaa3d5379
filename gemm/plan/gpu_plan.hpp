// What an operation is going to do on a GPU and why: a pure function of problem and device.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/plan/plan.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

/// One way to run a problem and the time that the family's own model gives it.
struct Candidate {
  KernelPlan kernel;
  double seconds = 0;
};

/// All kernels made from one source file, and when they serve.
struct Family {
  std::string_view name;
  /// Every way in which this family can run `problem` on `device`; empty when it cannot.
  std::vector<Candidate> (*candidates)(const GpuProblem& problem, const DeviceInfo& device);
};

/// The families there are, and the libraries, whose "kernels" are calls (families.cpp lists them).
[[nodiscard]] std::span<const Family> families() noexcept;
[[nodiscard]] std::span<const Family> libraries() noexcept;

/// A problem that a family cuts into several: no kernel, but a name for tables, and the time of all pieces.
[[nodiscard]] inline Candidate in_pieces(std::string_view family, double seconds) {
  Candidate pieces{{}, seconds};
  pieces.kernel.family = family, pieces.kernel.grid = 0;
  pieces.kernel.policy.members = "pieces", pieces.kernel.members = {1};
  return pieces;
}

/// How a problem runs on a device, and how long that is predicted to take.
struct GpuPlan {
  GpuProblem problem;
  KernelPlan kernel;
  Cost cost;
  double memory_seconds = 0, arithmetic_seconds = 0, launch_seconds = 0;  ///< the limits of the device
  double seconds = 0;  ///< what the chosen kernel is predicted to take
  Bound bound = Bound::launch;
  double gain = 0;         ///< over the model's choice, where a tuned table chose the kernel; 0: the model did
  double own_seconds = 0;  ///< what the engine's kernels are predicted to take where the model chose a library
};

/// What a caller wants decided otherwise.
struct GpuOverrides {
  std::string family;      ///< only kernels of this family
  bool libraries = false;  ///< a library may be chosen where no family is named: the caller can call it
};

/// Every way to run a problem, fastest first as far as the families' models tell; only those of one family if
/// it is named.
[[nodiscard]] std::vector<Candidate> ranked_candidates(const GpuProblem&, const DeviceInfo&,
                                                       std::string_view family = {});

/// The call of a library that the device's tuned table names for a problem, or else one that the models predict to be
/// faster than the engine's kernels, ranked before, by more than they err.
struct LibraryChoice {
  KernelPlan kernel;
  double seconds = 0, gain = 0, own_seconds = 0;  ///< as GpuPlan has them
};
[[nodiscard]] std::optional<LibraryChoice> library_choice(const GpuProblem&, const DeviceInfo&,
                                                          std::span<const Candidate> ranked);
[[nodiscard]] inline std::optional<LibraryChoice> library_choice(const GpuProblem& problem, const DeviceInfo& device) {
  return library_choice(problem, device, ranked_candidates(problem, device));
}

/// The candidate that the device's tuned table names, or else the one that is predicted to be fastest.
/// @throws Error(invalid_argument) when no family can run the problem, or not as wished.
[[nodiscard]] GpuPlan make_plan(const GpuProblem&, const DeviceInfo&, const GpuOverrides&,
                                std::span<const Candidate> ranked);
[[nodiscard]] inline GpuPlan make_plan(const GpuProblem& problem, const DeviceInfo& device,
                                       const GpuOverrides& overrides = {}) {
  return make_plan(problem, device, overrides, ranked_candidates(problem, device, overrides.family));
}

/// The least time that the device could take: bytes at the read or copy rate, and flops at the fastest rate
/// that keeps the type's accuracy (tensor units for float64 from capability 9.0 on and for 16-bit types; 3
/// TF32 products a float32 one).
struct LeastTimes {
  double memory_seconds = 0, arithmetic_seconds = 0;
};
[[nodiscard]] LeastTimes least_times(const Problem&, const DeviceInfo&);

/// The first of a family's tilings, sorted by the cost of its own model, whose kernels do with `shared_bytes` of shared
/// memory, as candidates. seconds(tiling): as the model has it, which may be less than the device's limits.
template <class Tiling, class Seconds, class MakeKernel>
[[nodiscard]] std::vector<Candidate> candidates_of(const std::vector<Tiling>& tilings, const Problem& problem,
                                                   const DeviceInfo& device, int shared_bytes, Seconds&& seconds,
                                                   MakeKernel&& make_kernel) {
  constexpr std::size_t kept = 8;
  const LeastTimes limits = least_times(problem, device);
  double least = std::max(limits.memory_seconds, limits.arithmetic_seconds);
  std::vector<Candidate> candidates;
  for (const Tiling& tiling : tilings) {
    if (candidates.size() == kept) break;
    KernelPlan kernel = make_kernel(tiling);
    if (kernel.shared_bytes > static_cast<std::size_t>(shared_bytes)) continue;
    least = std::max(least, seconds(tiling));  // the order of costs holds
    candidates.push_back({std::move(kernel), least + device.launch_seconds});
  }
  return candidates;
}

/// Some lines: what would be done and why, for people.
[[nodiscard]] std::string explain(const GpuPlan&, const DeviceInfo&);

}  // namespace ts::inline v0::cuda
