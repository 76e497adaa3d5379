#include "tallskinny/app/common/gpu_roofs.hpp"

#include <algorithm>

#include "tallskinny/gemm/device/roof_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::app {

namespace {

constexpr int rounds = 4096;

cuda::KernelPlan read_plan(const cuda::DeviceInfo& device, bool bulk) {
  const cuda::RoofReadPolicy policy{bulk};
  cuda::KernelPlan plan = cuda::plan_of("roof_read", policy);
  plan.grid = static_cast<unsigned>(device.multiprocessors * policy.blocks_at_once());
  plan.block = static_cast<unsigned>(policy.threads());
  plan.shared_bytes = static_cast<std::size_t>(bulk ? device.shared_bytes_per_block - 1024 : 0);
  return plan;
}

/// An arithmetic unit, where its rate belongs, and the flops of one step of one warp.
struct Unit {
  cuda::RoofFlopsPolicy policy;
  double cuda::DeviceInfo::*rate;
  double flops;
};

std::vector<Unit> units(const cuda::DeviceInfo& device) {
  using cuda::RoofUnit;
  return {{{RoofUnit::float64, 8}, &cuda::DeviceInfo::float64_flops, 2.0 * 32},
          {{RoofUnit::float32, 8}, &cuda::DeviceInfo::float32_flops, 2.0 * 32},
          {{RoofUnit::float64_tensor, 4},
           &cuda::DeviceInfo::float64_tensor_flops,
           device.features().long_float64 ? 2.0 * 16 * 8 * 16 : 2.0 * 8 * 8 * 4},
          {{RoofUnit::tf32_tensor, 8}, &cuda::DeviceInfo::tf32_tensor_flops, 2.0 * 16 * 8 * 8},
          {{RoofUnit::half_tensor, 8}, &cuda::DeviceInfo::half_tensor_flops, 2.0 * 16 * 8 * 16}};
}

cuda::KernelPlan unit_plan(const Unit& unit, const cuda::DeviceInfo& device) {
  cuda::KernelPlan plan = cuda::plan_of("roof_flops", unit.policy);
  plan.grid = static_cast<unsigned>(device.multiprocessors) * 4;
  plan.block = unit.policy.threads;
  return plan;
}

}  // namespace

std::vector<cuda::KernelPlan> roof_plans(const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> plans = {read_plan(device, false)};
  if (device.features().bulk_copies) plans.push_back(read_plan(device, true));
  for (const Unit& unit : units(device)) plans.push_back(unit_plan(unit, device));
  return plans;
}

double read_rate(const Context& ctx, const cuda::Memory& source, const cuda::Memory& target, const ReadRing& ring) {
  const cuda::KernelPlan plan = read_plan(ctx.stream.device(), ring.stages > 0);
  const index_t chunks = static_cast<index_t>(source.bytes()) / ring.chunk;
  const double seconds = best_seconds(ctx, 5, [&] {
    cuda::launch_with<cuda::RoofReadPolicy>(ctx, plan,
                                            {static_cast<const char*>(source.data()), chunks, ring.chunk, ring.stages,
                                             static_cast<unsigned*>(target.data())});
  });
  return static_cast<double>(chunks * ring.chunk) / seconds;
}

cuda::DeviceInfo measure_gpu_roofs(const Context& ctx, const cuda::Memory& source, const cuda::Memory& target) {
  cuda::DeviceInfo device = ctx.stream.device();
  device.read_bytes_per_second = 0;
  for (const int stages : {0, 4, 8, 12})
    if (stages == 0 || (device.features().bulk_copies && stages << 14 < device.shared_bytes_per_block - 1024))
      device.read_bytes_per_second =
          std::max(device.read_bytes_per_second, read_rate(ctx, source, target, {1 << 14, stages}));
  const std::size_t bytes = std::min(source.bytes(), target.bytes());
  const double copying =
      best_seconds(ctx, 7, [&] { cuda::copy_bytes(ctx.stream, target.data(), source.data(), bytes); });
  device.copy_bytes_per_second = 2 * static_cast<double>(bytes) / copying;
  for (const Unit& unit : units(device)) {
    const cuda::KernelPlan plan = unit_plan(unit, device);
    const double seconds = best_seconds(ctx, 5, [&] {
      cuda::launch_with<cuda::RoofFlopsPolicy>(ctx, plan, {rounds, static_cast<float*>(target.data())});
    });
    device.*unit.rate = unit.flops * unit.policy.chains * rounds * (plan.block / 32.0) * plan.grid / seconds;
  }
  constexpr int starts = 100;
  const cuda::KernelPlan nothing = read_plan(device, false);
  device.launch_seconds =
      best_seconds(ctx, 5,
                   [&] {
                     for (int i = 0; i < starts; ++i)
                       cuda::launch_with<cuda::RoofReadPolicy>(ctx, nothing, {nullptr, 0, 1 << 14, 0, nullptr});
                   }) /
      starts;
  return device;
}

}  // namespace ts::app
