// --device auto|cpu|cuda[:i]
#pragma once

#include <string>
#include <string_view>

namespace ts::app {

struct Device {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;  ///< of the CUDA device

  friend bool operator==(const Device&, const Device&) = default;
};

/// Whether `text` is auto, cpu, cuda or cuda:INDEX.
bool is_device_name(std::string_view text);

/// The device that a program runs on. `auto` is the processor, whatever else there is.
/// @throws Error(no_device) with the reason when that device cannot be had; there is no silent fallback.
Device resolve_device(std::string_view text);

/// The same for a program that runs on the processor only.
Device resolve_processor(std::string_view text);

/// "cpu" or "cuda:1".
std::string device_text(const Device& device);

}  // namespace ts::app
