#include "tallskinny/app/common/device.hpp"

#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::app {

namespace {

constexpr std::string_view cuda_prefix = "cuda:", every_gpu = "cuda:all";

std::string seconds_text(double seconds) {
  return short_number(seconds < 10 ? 0.1 * std::ceil(10 * seconds) : std::ceil(seconds)) + " s";
}

/// Numbers of the GPUs that a device name lists; empty for all GPUs of the machine. nullopt for names that are not of
/// GPUs.
std::optional<std::vector<int>> indices_of(std::string_view text) {
  if (text == "cuda" || text == every_gpu) return std::vector<int>();
  if (!text.starts_with(cuda_prefix)) return std::nullopt;
  std::vector<int> indices;
  for (std::size_t at = cuda_prefix.size(), end = 0; end != std::string_view::npos; at = end + 1) {
    end = text.find(',', at);
    if (int& index = indices.emplace_back(-1); !parse_value(text.substr(at, end - at), index) || index < 0)
      return std::nullopt;
  }
  return indices;
}

/// The numbers of GPUs that there are. @throws Error(no_device).
std::vector<int> devices_of(std::string_view text) {
  const std::string asked = "--device " + std::string(text) + ": ";
  const cuda::DeviceList found = cuda::list_devices();
  if (found.devices.empty()) throw Error(Errc::no_device, asked + found.reason);
  const auto count = static_cast<int>(found.devices.size());
  std::vector<int> devices = indices_of(text).value();
  for (const int index : devices)
    if (index >= count)
      throw Error(Errc::no_device,
                  asked + "there is no such device; the last one is cuda:" + std::to_string(count - 1));
  if (!devices.empty()) return devices;
  devices.resize(found.devices.size());
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

}  // namespace

bool is_device_name(std::string_view text) { return text == "auto" || text == "cpu" || indices_of(text).has_value(); }

bool names_several_devices(std::string_view text) {
  return text == every_gpu || text.find(',') != std::string_view::npos;
}

int count_devices(std::string_view text) { return static_cast<int>(devices_of(text).size()); }

Device resolve_device(std::string_view text, int rank) {
  expects(is_device_name(text), "--device: expected auto, cpu, cuda, cuda:INDEX, cuda:INDEX,INDEX,... or cuda:all");
  if (!text.starts_with("cuda")) return {};
  const std::vector<int> devices = devices_of(text);
  return {Device::Kind::cuda, devices[static_cast<std::size_t>(rank) % devices.size()]};
}

Device faster_device(const solvers::RunWork& work, int threads, Console& console) {
  constexpr double worth_a_look = 1;  // second
  const double here = solvers::seconds_on(solvers::with_threads(this_cpu(), threads), work);
  if (here < worth_a_look) return {};
  const cuda::DeviceList found = cuda::list_devices();
  if (found.devices.empty()) return {};
  const Device gpu{Device::Kind::cuda, 0};
  const double there = solvers::seconds_on(found.devices.front(), work);
  const bool fits = work.resident < 0.9 * static_cast<double>(found.devices.front().memory_bytes);
  const bool takes_it = fits && there < here;
  console.note("--device auto selects " + (takes_it ? device_text(gpu) : "the processor") + ": about " +
               seconds_text(there) + " are expected on " + device_text(gpu) + ", " + seconds_text(here) +
               " on the processor" + (fits ? "" : ", and its memory is too small"));
  return takes_it ? gpu : Device{};
}

std::string device_text(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : std::string(cuda_prefix) + std::to_string(device.index);
}

}  // namespace ts::app
