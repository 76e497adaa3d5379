// Which CUDA devices this process can see, and what the planner knows about one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ts::inline v0::cuda {

class TunedTable;  // plan/tuned.hpp has it
/// The measured choices for devices of this name. Its body is in plan/: what tables say is no matter of the
/// runtime.
[[nodiscard]] std::shared_ptr<const TunedTable> tuned_for(const std::string& device_name);

/// What the chips of an architecture have beside those of compute capability 8.0, as far as plans ask.
struct DeviceFeatures {
  bool bulk_copies = false;      ///< a copy engine that fills shared memory, and clusters of blocks
  bool early_starts = false;     ///< a kernel may start while the one before it ends
  bool long_float64 = false;     ///< float64 tensor instructions of 16 x 8 x 16
  bool warpgroups = false;       ///< tensor instructions of warpgroups, and registers that warps give to others
  bool spare_registers = false;  ///< kernels of sparse rows leave registers for more blocks
  int more_registers = 0;        ///< that the compiler takes for such a kernel beyond what others need
};

/// A plain value, so that plans for any device can be made and tested without one. Rates are assumed from the
/// kind of device, until `tsbench probe` measures them.
struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  int shared_bytes_per_block = 48 << 10;  ///< the most a block can ask for
  int shared_bytes_per_multiprocessor = 64 << 10;
  int registers_per_multiprocessor = 65536;
  int threads_per_multiprocessor = 2048;
  std::int64_t l2_bytes = 4 << 20;
  double clock = 1.4e9;  ///< cycles of a multiprocessor, a second
  double read_bytes_per_second = 5e11;
  double copy_bytes_per_second = 4.5e11;  ///< bytes read plus bytes written
  double float64_flops = 1e12;            ///< fused multiply-adds count 2
  double float64_tensor_flops = 1e12;     ///< as fast as float64_flops where there are no such units
  double float32_flops = 1e13;
  double tf32_tensor_flops = 5e13;
  double half_tensor_flops = 1e14;  ///< 16-bit inputs, float32 sums
  double launch_seconds = 4e-6;
  std::shared_ptr<const TunedTable> tuned;  ///< measured choices among kernels; none: the model decides
  bool libraries = true;                    ///< plans may name NVIDIA's libraries, which take 0.1 to 0.4 s to load
  std::string machine;                      ///< what kernels are compiled for, if plans are made for another chip
  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;

  /// Compute capability as one number: 80 for 8.0. Plans ask for features.
  [[nodiscard]] int capability() const noexcept { return 10 * compute_major + compute_minor; }
  [[nodiscard]] const DeviceFeatures& features() const noexcept;
  /// The name under which kernels are compiled for it.
  [[nodiscard]] std::string arch() const;
};

/// The devices of this machine, numbered as the driver does.
struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string reason;  ///< a clause saying why there are none; empty when there are some
};

/// Whether the CUDA backend is part of this build.
[[nodiscard]] bool built() noexcept;

/// Asks the driver. A machine without GPU or driver gives an empty list and the reason.
/// @throws Error(device_failure) when the driver reports anything else.
[[nodiscard]] DeviceList list_devices();

/// Keeps rates that were measured in the cache folder: from the next list_devices() on, devices of this name have them,
/// as long as the driver stays (take_rates() of runtime/gpu/architectures.hpp).
void keep_rates(const DeviceInfo& measured);

}  // namespace ts::inline v0::cuda
