#include "tallskinny/app/tsbench/gpu/energy.hpp"

#include <array>

#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::bench {

namespace {

// NVML's header is no part of the toolkit everywhere; these are its declarations.
struct Nvml {
  int (*init)() = nullptr;
  int (*by_address)(const char*, void**) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;  // millijoules since the driver was loaded
  int (*address)(char*, int, int) = nullptr;            // of the driver
  bool usable = false;
};

const Nvml& nvml() {
  static const Nvml n = [] {
    Nvml found;
    static const cuda::SharedLibrary management(std::array<const char*, 1>{"libnvidia-ml.so.1"});
    static const cuda::SharedLibrary driver(std::array<const char*, 1>{"libcuda.so.1"});
    found.usable = management.bind(found.init, "nvmlInit_v2") &&
                   management.bind(found.by_address, "nvmlDeviceGetHandleByPciBusId_v2") &&
                   management.bind(found.energy, "nvmlDeviceGetTotalEnergyConsumption") &&
                   driver.bind(found.address, "cuDeviceGetPCIBusId") && found.init() == 0;
    return found;
  }();
  return n;
}

}  // namespace

EnergyMeter::EnergyMeter(const cuda::DeviceInfo& device) {
  std::array<char, 32> address{};
  if (!nvml().usable || nvml().address(address.data(), static_cast<int>(address.size()), device.index) != 0) return;
  if (nvml().by_address(address.data(), &device_) != 0) device_ = nullptr;
}

double EnergyMeter::joules(const Context& ctx, double seconds, double about, Turns& turns) const {
  unsigned long long before = 0, after = 0;
  if (device_ == nullptr || seconds <= 0) return 0;
  const int runs = std::max(1, static_cast<int>(std::lround(seconds / about)));
  ctx.stream.synchronize();
  if (nvml().energy(device_, &before) != 0) return 0;
  for (int r = 0; r < runs; ++r) turns.next();
  ctx.stream.synchronize();
  if (nvml().energy(device_, &after) != 0) return 0;
  return 1e-3 * static_cast<double>(after - before) / runs;
}

}  // namespace ts::bench
