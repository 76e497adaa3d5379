// --device auto|cpu|cuda[:i]
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

/// Whether `text` is auto, cpu, cuda or cuda:INDEX.
bool is_device_name(std::string_view text);

/// The device that a program runs on. `auto` is the processor until faster_device has a say.
/// @param rank of those of several processes that are on this machine: `cuda` gives them its devices in turn.
/// @throws Error(no_device) with the reason when that device cannot be had; there is no silent fallback.
Device resolve_device(std::string_view text, int rank = 0);

/// What --device auto takes for this work: the first GPU where it is expected to be faster and has the memory. Where
/// there is a choice, a line says what was taken and why. Work of less than a second is done before a GPU has started.
Device faster_device(const solvers::RunWork& work, int threads, Console& console);

/// "cpu" or "cuda:1".
std::string device_text(const Device& device);

}  // namespace ts::app
