// Devices to plan for where there is none.
#pragma once

#include <string>

#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::inline v0::cuda {

/// A well-known device of an architecture, to plan and compile for without having one: an A100 for "sm_80",
/// an H100 for "sm_90a", a B200 for "sm_100".
/// @throws Error(invalid_argument) that lists the names there are.
[[nodiscard]] DeviceInfo typical_device(const std::string& arch);

}  // namespace ts::inline v0::cuda
