// Kernels that operations start on typical devices, found by rehearsing.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::baseline {

struct KernelCase {
  std::string name;
  std::vector<cuda::KernelPlan> kernels;
  std::string failure = {};
};

/// The cases of one device, in the order in which they were added.
class KernelCases {
 public:
  explicit KernelCases(std::string arch) : device_(cuda::typical_device(arch)) {}
  [[nodiscard]] const cuda::DeviceInfo& device() const noexcept { return device_; }
  [[nodiscard]] const std::vector<KernelCase>& all() const noexcept { return all_; }

  /// The kernels that work(context) starts; nothing where a case of this name was added before.
  template <class Work>
  void rehearse(std::string name, Work&& work, Determinism determinism = Determinism::run_to_run) {
    for (const KernelCase& c : all_)
      if (c.name == name) return;
    Context ctx;
    ctx.threads = 1;
    ctx.stream = cuda::Stream::rehearsing(device_);
    ctx.determinism = determinism;
    KernelCase found{std::move(name), {}};
    try {
      work(ctx);
    } catch (const std::exception& error) {
      found.failure = error.what();
    }
    found.kernels = ctx.stream.rehearsal()->kernels;
    all_.push_back(std::move(found));
  }
  void add(std::string name, std::vector<cuda::KernelPlan> kernels) {
    all_.push_back({std::move(name), std::move(kernels)});
  }

 private:
  cuda::DeviceInfo device_;
  std::vector<KernelCase> all_;
};

/// Dense and sparse operations, norms, random numbers, copies.
void add_operations(KernelCases&);
/// Runs of k-means: labels, sums, means, first centres.
void add_kmeans(KernelCases&);
/// Kernels that no rehearsal reaches, from the functions that plan them.
void add_planned_cases(KernelCases&);

}  // namespace ts::baseline
