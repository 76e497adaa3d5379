// --device auto|cpu|cuda[:I,...|:all]
#pragma once

#include <string>
#include <string_view>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/solvers/setup/where.hpp"

namespace ts::app {

struct Device {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;  ///< of the CUDA device

  friend bool operator==(const Device&, const Device&) = default;
};

/// True if `text` is auto, cpu, cuda, cuda:INDEX, a list such as cuda:0,2, or cuda:all.
bool is_device_name(std::string_view text);

/// True for a list of devices and for cuda:all, which ask for a rank on each of several GPUs.
bool names_several_devices(std::string_view text);
/// Number of devices that a list or cuda:all names. @throws Error(no_device) with the reason where one is not
/// available.
int count_devices(std::string_view text);

/// The device that a program runs on. `auto` is the processor until faster_device() decides.
/// @param rank of those on this machine: `cuda`, `cuda:all` and lists hand out their devices in turn.
/// @throws Error(no_device) with the reason when the device is not available; there is no silent fallback.
Device resolve_device(std::string_view text, int rank = 0);

/// Decides --device auto: the first GPU where it is expected to be faster and has the memory, else the processor.
/// Prints the choice and its reason where there is one. Work of less than a second stays on the processor, as a GPU
/// takes longer to start.
Device faster_device(const solvers::RunWork& work, int threads, Console& console);

/// "cpu" or "cuda:1".
std::string device_text(const Device& device);

}  // namespace ts::app
