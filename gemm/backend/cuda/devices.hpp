// Which CUDA devices this process can see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ts::cuda {

struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
};

struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string reason;  ///< a clause saying why there are none; empty when there are some
};

/// Whether the CUDA backend is part of this build.
[[nodiscard]] bool built() noexcept;

/// Asks the driver. A machine without GPU or driver gives an empty list and the reason.
/// @throws Error(device_failure) when the driver reports anything else.
[[nodiscard]] DeviceList list_devices();

}  // namespace ts::cuda
