#include "tallskinny/app/common/gpu_roofs.hpp"

#include <algorithm>

#include "tallskinny/app/common/gpu_clock.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::app {

namespace {

constexpr index_t chunk_bytes = 16 << 10;
constexpr int rounds = 4096;

cuda::KernelPlan read_plan(const cuda::DeviceInfo& device, bool bulk, index_t chunk, index_t stages) {
  cuda::KernelPlan plan;
  plan.family = "roof_read";
  plan.defines = {cuda::define("TS_BULK", bulk ? 1 : 0), cuda::define("TS_CHUNK", chunk),
                  cuda::define("TS_STAGES", stages)};
  plan.grid = static_cast<unsigned>(device.multiprocessors) * (bulk ? 1 : 4);
  plan.block = bulk ? 32 : 256;
  plan.shared_bytes = bulk ? static_cast<std::size_t>(chunk * stages) : 0;
  return plan;
}

std::vector<std::pair<cuda::KernelPlan, index_t>> read_plans(const cuda::DeviceInfo& device) {
  std::vector<std::pair<cuda::KernelPlan, index_t>> plans = {
      {read_plan(device, false, chunk_bytes, 1), chunk_bytes}};
  if (device.capability() >= 90)
    for (const index_t stages : {4, 8, 12})
      plans.emplace_back(read_plan(device, true, chunk_bytes, stages), chunk_bytes);
  return plans;
}

/// An arithmetic unit, where its rate belongs, and the flops of one step of one warp.
struct Unit {
  int number, chains;
  double cuda::DeviceInfo::*rate;
  double flops;
};

std::vector<Unit> units(const cuda::DeviceInfo& device) {
  return {{0, 8, &cuda::DeviceInfo::float64_flops, 2.0 * 32},
          {1, 8, &cuda::DeviceInfo::float32_flops, 2.0 * 32},
          {2, 4, &cuda::DeviceInfo::float64_tensor_flops,
           device.capability() >= 90 ? 2.0 * 16 * 8 * 16 : 2.0 * 8 * 8 * 4},
          {3, 8, &cuda::DeviceInfo::tf32_tensor_flops, 2.0 * 16 * 8 * 8},
          {4, 8, &cuda::DeviceInfo::half_tensor_flops, 2.0 * 16 * 8 * 16}};
}

cuda::KernelPlan unit_plan(const Unit& unit, const cuda::DeviceInfo& device) {
  cuda::KernelPlan plan;
  plan.family = "roof_flops";
  plan.defines = {cuda::define("TS_UNIT", unit.number), cuda::define("TS_CHAINS", unit.chains)};
  plan.grid = static_cast<unsigned>(device.multiprocessors) * 4;
  plan.block = 256;
  return plan;
}

}  // namespace

std::vector<cuda::KernelPlan> roof_plans(const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> plans;
  for (const auto& [plan, chunk] : read_plans(device)) plans.push_back(plan);
  for (const Unit& unit : units(device)) plans.push_back(unit_plan(unit, device));
  return plans;
}

cuda::DeviceInfo measure_gpu_roofs(const Context& ctx, const cuda::Memory& source,
                                   const cuda::Memory& target) {
  cuda::DeviceInfo device = ctx.stream.device();
  auto* const sink = static_cast<unsigned*>(target.data());
  device.read_bytes_per_second = device.copy_bytes_per_second = 0;
  for (const auto& reading : read_plans(device)) {
    const auto chunks = static_cast<index_t>(source.bytes()) / reading.second;
    const double seconds =
        best_seconds(ctx, 7, [&] { cuda::launch(ctx, reading.first, source.data(), chunks, sink); });
    device.read_bytes_per_second =
        std::max(device.read_bytes_per_second, static_cast<double>(chunks * reading.second) / seconds);
  }
  const std::size_t bytes = std::min(source.bytes(), target.bytes());
  const double copying =
      best_seconds(ctx, 7, [&] { cuda::copy_bytes(ctx.stream, target.data(), source.data(), bytes); });
  device.copy_bytes_per_second = 2 * static_cast<double>(bytes) / copying;
  for (const Unit& unit : units(device)) {
    const cuda::KernelPlan plan = unit_plan(unit, device);
    const double seconds = best_seconds(ctx, 5, [&] { cuda::launch(ctx, plan, rounds, sink); });
    device.*unit.rate = unit.flops * unit.chains * rounds * (plan.block / 32.0) * plan.grid / seconds;
  }
  return device;
}

}  // namespace ts::app
