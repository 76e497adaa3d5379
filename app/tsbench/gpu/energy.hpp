// What work costs in energy, by the counter that NVIDIA's management library (NVML) reads; loaded when it is
// there.
#pragma once

#include "tallskinny/app/tsbench/gpu/clock.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::bench {

class EnergyMeter {
 public:
  explicit EnergyMeter(const cuda::DeviceInfo& device);
  /// Joules of one turn, over turns that fill about `seconds` (each takes about `about`); 0 where there is no
  /// counter, or for seconds = 0. The counter advances in steps of up to 0.1 s: ask for several of them.
  [[nodiscard]] double joules(const Context& ctx, double seconds, double about, Turns& turns) const;

 private:
  void* device_ = nullptr;  // NVML's handle
};

}  // namespace ts::bench
