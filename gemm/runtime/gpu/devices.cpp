#include "tallskinny/gemm/runtime/gpu/devices.hpp"

#include <array>
#include <cstdlib>

#include "tallskinny/gemm/runtime/gpu/architectures.hpp"
#include "tallskinny/gemm/runtime/gpu/disk_cache.hpp"
#include "tallskinny/gemm/runtime/gpu/driver.hpp"

namespace ts::inline v0::cuda {

namespace {

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  check(driver().device_attribute(&value, which, device), "describe a device");
  return value;
}

std::string rates_key(const DeviceInfo& d) {
  int version = 0;
  check(driver().driver_version(&version), "tell its version");
  return "rates of " + d.name + " with driver " + std::to_string(version);
}

DeviceInfo describe(int index) {
  CUdevice device = 0;
  check(driver().device_get(&device, index), "find device " + std::to_string(index));
  std::array<char, 128> name{};
  std::size_t memory = 0;
  check(driver().device_name(name.data(), static_cast<int>(name.size()) - 1, device), "name a device");
  check(driver().device_memory(&memory, device), "tell the size of its memory");

  DeviceInfo d;
  d.index = index;
  d.name = name.data();
  d.memory_bytes = memory;
  d.compute_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  d.compute_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  d.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  d.shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  d.shared_bytes_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device);
  d.registers_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, device);
  d.threads_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device);
  d.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  // Clocks in kHz; two transfers a clock on a bus of this many bits.
  const double clock = 1e3 * attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
  const double memory_clock = 1e3 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
  const double bus_bytes = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device) / 8.0;
  assume_rates(d, clock, 2 * memory_clock * bus_bytes);
  if (const auto kept = DiskCache(default_cache_folder()).find(rates_key(d))) take_rates(d, *kept);
  d.tuned = tuned_for(d.name);
  if (const char* const capability = std::getenv("TALLSKINNY_GPU")) plan_as(d, capability);
  return d;
}

}  // namespace

bool built() noexcept { return true; }

DeviceList list_devices() {
  DeviceList list;
  list.reason = find_driver().missing;
  if (!list.reason.empty()) return list;
  int count = 0;
  check(driver().device_count(&count), "count the devices");
  if (count == 0) list.reason = "no CUDA device was found (is CUDA_VISIBLE_DEVICES set?)";
  for (int i = 0; i < count; ++i) list.devices.push_back(describe(i));
  return list;
}

void keep_rates(const DeviceInfo& measured) {
  DiskCache(default_cache_folder()).store(rates_key(measured), text_of_rates(measured));
}

}  // namespace ts::inline v0::cuda
