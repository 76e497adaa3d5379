#include "tallskinny/gemm/runtime/gpu/rates.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Multiply-adds of one multiprocessor in one clock.
struct ChipRates {
  int capability;  ///< from this one on
  double float64, float64_tensor, float32, tf32, half;
};

// As mma.sync reaches them: from 9.0 on, tensor units are faster still with instructions that no kernel here
// needs.
constexpr ChipRates table[] = {{100, 64, 64, 128, 640, 1280},
                               {90, 64, 128, 128, 610, 1220},
                               {86, 2, 2, 128, 256, 512},
                               {80, 32, 64, 64, 512, 1024},
                               {0, 2, 2, 64, 64, 512}};

constexpr double read_share = 0.94, copy_share = 0.90;  // of the bus, as streaming kernels reach them

ChipRates arithmetic_of(int capability) {
  for (const ChipRates& a : table)
    // 8.6, 8.9 and 12.x are graphics chips with little float64.
    if (capability >= a.capability && !(capability >= 120 && a.capability >= 90)) return a;
  return table[4];
}

}  // namespace

void assume_rates(DeviceInfo& d, double clock, double bus_bytes_per_second) {
  const ChipRates a = arithmetic_of(d.capability());
  const double per_clock = 2 * clock * d.multiprocessors;
  d.read_bytes_per_second = read_share * bus_bytes_per_second;
  d.copy_bytes_per_second = copy_share * bus_bytes_per_second;
  d.float64_flops = per_clock * a.float64;
  d.float64_tensor_flops = per_clock * a.float64_tensor;
  d.float32_flops = per_clock * a.float32;
  d.tf32_tensor_flops = per_clock * a.tf32;
  d.half_tensor_flops = per_clock * a.half;
}

std::string DeviceInfo::arch() const {
  const std::string number = "sm_" + std::to_string(capability());
  return capability() == 90 ? number + "a" : number;
}

}  // namespace ts::inline v0::cuda
