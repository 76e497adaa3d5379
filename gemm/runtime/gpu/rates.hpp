// What a device can be expected to do, from its architecture, clocks and bus.
#pragma once

#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::inline v0::cuda {

/// Sets the rates of `d` from its capability and multiprocessors, its clock (1/s) and the bytes per second
/// that its memory's bus can carry.
void assume_rates(DeviceInfo& d, double clock, double bus_bytes_per_second);

}  // namespace ts::inline v0::cuda
