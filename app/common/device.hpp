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

/// Whether `text` is auto, cpu, cuda, cuda:INDEX, a list as cuda:0,2, or cuda:all.
bool is_device_name(std::string_view text);

/// Whether it is one of the last two, which ask for a rank on each of several GPUs.
bool names_several_devices(std::string_view text);
/// How many these are. @throws Error(no_device) with the reason where they cannot be had.
int count_devices(std::string_view text);

/// The device that a program runs on. `auto` is the processor until faster_device has a say.
/// @param rank of those that are on this machine: `cuda`, `cuda:all` and lists give them their devices in turn.
/// @throws Error(no_device) with the reason when that device cannot be had; there is no silent fallback.
Device resolve_device(std::string_view text, int rank = 0);

/// What --device auto takes for this work: the first GPU where it is expected to be faster and has the memory. Where
/// there is a choice, a line says what was taken and why. Work of less than a second is done before a GPU has started.
Device faster_device(const solvers::RunWork& work, int threads, Console& console);

/// "cpu" or "cuda:1".
std::string device_text(const Device& device);

}  // namespace ts::app
