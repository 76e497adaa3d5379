#include "tallskinny/gemm/runtime/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/runtime/gpu/driver.hpp"

namespace ts::inline v0::cuda {

/// A kernel as it lies in a device's memory. Loaded once and kept.
struct detail::Kernel {
  CUfunction function = nullptr;
  std::vector<std::size_t> parameter_bytes;  ///< empty where the driver cannot tell
  std::size_t shared_bytes = 48 << 10;       ///< static and dynamic, that it may be launched with
};

namespace {

using detail::Kernel;

std::string key_of(const KernelPlan& plan) {
  std::string key = std::string(plan.family) + " " + std::string(plan.policy.name);
  for (const index_t member : plan.members) key.append(" ").append(std::to_string(member));
  return key;
}

Kernel load(const KernelPlan& plan, const Compiled& compiled) {
  const std::string name(plan.family);
  Kernel kernel;
  CUmodule module = nullptr;
  check(driver().module_load(&module, compiled.cubin.data()), "load the kernel " + name);
  check(driver().module_function(&kernel.function, module, name.c_str()), "find the kernel " + name);
  std::size_t offset = 0, bytes = 0;
  if (driver().param_info != nullptr)
    while (driver().param_info(kernel.function, kernel.parameter_bytes.size(), &offset, &bytes) == CUDA_SUCCESS)
      kernel.parameter_bytes.push_back(bytes);
  return kernel;
}

/// Those of a device. Compiling and loading exclude each other, but never those of another device: loading
/// may wait for what runs on its own, and that, in a collective call, for a kernel that another rank has to
/// load.
class Kernels {
 public:
  /// The kernel of each plan, compiled and loaded if this is the first call with it.
  void require(const Context& ctx, std::span<const KernelPlan> plans) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> keys;
    std::vector<CompileJob> jobs;
    std::vector<const KernelPlan*> missing;
    const DeviceInfo& device = ctx.stream.device();
    for (const KernelPlan& plan : plans) {
      if (plan.grid == 0) continue;
      std::string key = key_of(plan);
      if (loaded_.contains(key) || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      keys.push_back(std::move(key));
      jobs.push_back(job_of(plan, device.arch()));
      missing.push_back(&plan);
    }
    if (jobs.empty()) return;
    const Stopwatch watch;
    const std::vector<Compiled> compiled = compile_all(jobs);
    report(ctx, jobs, watch.seconds());
    for (std::size_t i = 0; i < jobs.size(); ++i) loaded_.emplace(keys[i], load(*missing[i], compiled[i]));
  }

  Kernel& find(const Context& ctx, const KernelPlan& plan) {
    const std::string key = key_of(plan);
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = loaded_.find(key); found != loaded_.end()) return found->second;
    }
    require(ctx, std::span(&plan, 1));
    const std::lock_guard lock(mutex_);
    return loaded_.at(key);
  }

  /// Raises what the kernel may be launched with to what `plan` asks for.
  void allow_shared(Kernel& kernel, const KernelPlan& plan) {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = plan.shared_bytes + static_cast<std::size_t>(plan.budget.shared_bytes);
    if (bytes <= kernel.shared_bytes) return;
    check(driver().function_set(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(plan.shared_bytes)),
          "give the kernel " + std::string(plan.family) + " " + std::to_string(plan.shared_bytes) +
              " bytes of shared memory");
    kernel.shared_bytes = bytes;
  }

 private:
  static void report(const Context& ctx, const std::vector<CompileJob>& jobs, double seconds) {
    if (!ctx.log || seconds <= 1) return;
    char line[160];
    std::snprintf(line, sizeof line, "compiled %zu GPU kernel%s (%s%s) in %.1f s; the next run has %s at hand",
                  jobs.size(), jobs.size() == 1 ? "" : "s", jobs.front().family.c_str(),
                  jobs.size() == 1 ? "" : ", ...", seconds, jobs.size() == 1 ? "it" : "them");
    ctx.log(line);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Kernel> loaded_;  // references stay valid when it grows
};

Kernels& kernels_of(const Context& ctx) {
  static std::mutex mutex;
  static std::map<int, Kernels> all;  // references stay valid when it grows
  const std::lock_guard lock(mutex);
  return all[ctx.stream.device().index];
}

void expect_parameters(const Kernel& kernel, const KernelPlan& plan, std::span<const detail::Argument> arguments) {
  if (kernel.parameter_bytes.empty()) return;
  const bool same =
      std::equal(arguments.begin(), arguments.end(), kernel.parameter_bytes.begin(), kernel.parameter_bytes.end(),
                 [](const detail::Argument& a, std::size_t bytes) { return a.bytes == bytes; });
  if (!same)
    throw Error(Errc::invalid_argument, "the kernel " + std::string(plan.family) +
                                            " is started with arguments of other sizes than it declares");
}

CUresult start(CUfunction function, const KernelPlan& plan, const Stream& on, void** arguments) {
  CUstream stream = on.handle();
  const auto shared_bytes = static_cast<unsigned>(plan.shared_bytes);
  const bool overlaps = plan.overlaps && on.device().features().early_starts;
  if ((!overlaps && !plan.meets) || driver().launch_with == nullptr)
    return driver().launch_kernel(function, plan.grid, 1, 1, plan.block, 1, 1, shared_bytes, stream, arguments,
                                  nullptr);
  CUlaunchAttribute attribute{};
  if (plan.meets)
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, attribute.value.cooperative = 1;
  else
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    attribute.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig config{plan.grid, 1, 1, plan.block, 1, 1, shared_bytes, stream, &attribute, 1};
  return driver().launch_with(&config, function, arguments, nullptr);
}

}  // namespace

void detail::launch(const Context& ctx, const KernelPlan& plan, std::span<const Argument> arguments,
                    KnownKernel* known) {
  if (plan.grid == 0) return;
  if (Rehearsal* const rehearsal = ctx.stream.rehearsal(); rehearsal != nullptr)
    return rehearsal->kernels.push_back(plan);
  const Active active(ctx.stream.device().index);
  Kernels& kernels = kernels_of(ctx);
  Kernel* found = known != nullptr ? known->load() : nullptr;
  if (found == nullptr) {
    found = &kernels.find(ctx, plan);
    if (known != nullptr) known->store(found);
  }
  Kernel& kernel = *found;
  expect_parameters(kernel, plan, arguments);
  kernels.allow_shared(kernel, plan);
  std::array<void*, 32> pointers{};
  if (arguments.size() > pointers.size())
    throw Error(Errc::invalid_argument, "a kernel is started with more than 32 arguments");
  for (std::size_t i = 0; i < arguments.size(); ++i) pointers[i] = const_cast<void*>(arguments[i].value);
  check(start(kernel.function, plan, ctx.stream, pointers.data()), "start the kernel " + std::string(plan.family));
}

void prepare(const Context& ctx, std::span<const KernelPlan> plans) {
  if (ctx.stream.rehearsal() != nullptr) return;
  const Active active(ctx.stream.device().index);
  kernels_of(ctx).require(ctx, plans);
}

}  // namespace ts::inline v0::cuda
