// Plans that are kept: planning takes tens of microseconds, longer than a short operation on a GPU.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::inline v0::cuda {

struct PlannedKernel;

/// What was made from this problem on this device, `Planned(problem, device)` when it is asked for the first
/// time. May be called by several threads at once, which make different plans side by side.
template <class Planned = PlannedKernel>
[[nodiscard]] std::shared_ptr<const Planned> kept_plan(const GpuProblem& problem, const DeviceInfo& device) {
  // What plans depend on: the device of a rehearsal may be another one of the same number.
  using Key = std::tuple<GpuProblem, int, int, int, std::shared_ptr<const TunedTable>, bool, std::string>;
  using Plan = std::shared_ptr<const Planned>;
  static std::mutex mutex;
  static std::map<Key, std::shared_future<Plan>> kept;
  constexpr std::size_t most = 1024;
  const Key key(problem, device.index, device.multiprocessors, device.shared_bytes_per_block, device.tuned,
                device.libraries, device.name);
  std::promise<Plan> made;
  {
    std::unique_lock lock(mutex);
    if (const auto found = kept.find(key); found != kept.end()) {
      const std::shared_future<Plan> plan = found->second;
      lock.unlock();
      return plan.get();
    }
    if (kept.size() == most) kept.clear();
    kept.emplace(key, made.get_future());
  }
  try {
    Plan plan = std::make_shared<const Planned>(problem, device);
    made.set_value(plan);
    return plan;
  } catch (...) {
    made.set_exception(std::current_exception());
    const std::lock_guard lock(mutex);
    kept.erase(key);  // whoever asks next tries again
    throw;
  }
}

/// The engine's kernels for a problem, which a library is weighed against before one of them is planned.
struct RankedKernels {
  RankedKernels(const GpuProblem& problem, const DeviceInfo& device) : candidates(ranked_candidates(problem, device)) {}
  std::vector<Candidate> candidates;
};

/// The planned kernel of a problem, and nothing more. Operations whose launch takes other numbers from the
/// plan derive from it.
struct PlannedKernel {
  PlannedKernel(const GpuProblem& problem, const DeviceInfo& device)
      : kernel(make_plan(problem, device, {}, kept_plan<RankedKernels>(problem, device)->candidates).kernel) {}
  PlannedKernel(const GpuProblem& problem, const DeviceInfo& device, const GpuOverrides& overrides)
      : kernel(make_plan(problem, device, overrides).kernel) {}
  ReadyKernel kernel;
};

}  // namespace ts::inline v0::cuda
