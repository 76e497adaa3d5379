// What GPUs can do and are expected to reach, by architecture. architectures.cpp is the one place that names them.
#pragma once

#include <string>
#include <string_view>

#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::inline v0::cuda {

/// Sets the rates of `d` from its capability and multiprocessors, its clock (1/s) and the bytes per second
/// that its memory's bus can carry.
void assume_rates(DeviceInfo& d, double clock, double bus_bytes_per_second);

/// The rates of `d`, a name and a number a line.
[[nodiscard]] std::string text_of_rates(const DeviceInfo& d);
/// Takes rates that were measured, in steps of a twelfth of an octave, and none within an eighth of what is assumed:
/// plans, and with them the order of sums, must not follow the noise of a measurement. What is no rate is left out.
void take_rates(DeviceInfo& d, const std::string& text);

/// Plans are then made as for a chip of this compute capability ("8.0"), and kernels compiled for the one there is:
/// for tests of kernels that it would not take. Rates stay.
/// @throws Error(invalid_argument) that names TALLSKINNY_GPU, the environment variable by which users ask for it.
void plan_as(DeviceInfo& d, std::string_view capability);

/// A well-known device of an architecture ("sm_90a"), without choices that were measured on it.
/// @throws Error(invalid_argument) that lists the names there are.
[[nodiscard]] DeviceInfo assumed_device(std::string_view arch);

/// The architectures with a well-known device in one line, with `last` before the last of them.
[[nodiscard]] std::string architecture_names(std::string_view last = ", ", std::string_view between = ", ");
/// The one that most measurements were made on.
[[nodiscard]] std::string usual_architecture();

}  // namespace ts::inline v0::cuda
