#include "tallskinny/app/common/device.hpp"

#include <cmath>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::app {

namespace {

constexpr std::string_view cuda_prefix = "cuda:";

std::string seconds_text(double seconds) {
  return short_number(seconds < 10 ? 0.1 * std::ceil(10 * seconds) : std::ceil(seconds)) + " s";
}

}  // namespace

bool is_device_name(std::string_view text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  int index = -1;
  return text.starts_with(cuda_prefix) && parse_value(text.substr(cuda_prefix.size()), index) && index >= 0;
}

Device resolve_device(std::string_view text, int rank) {
  expects(is_device_name(text), "--device: expected auto, cpu, cuda or cuda:INDEX");
  if (!text.starts_with("cuda")) return {};

  const std::string asked = "--device " + std::string(text) + ": ";
  const cuda::DeviceList found = cuda::list_devices();
  if (found.devices.empty()) throw Error(Errc::no_device, asked + found.reason);
  int index = rank % static_cast<int>(found.devices.size());
  if (text.starts_with(cuda_prefix)) parse_value(text.substr(cuda_prefix.size()), index);
  if (index >= static_cast<int>(found.devices.size()))
    throw Error(Errc::no_device,
                asked + "there is no such device; the last one is cuda:" + std::to_string(found.devices.size() - 1));
  return {Device::Kind::cuda, index};
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
  console.note("--device auto takes " + (takes_it ? device_text(gpu) : "the processor") + ": about " +
               seconds_text(there) + " are expected on " + device_text(gpu) + ", " + seconds_text(here) +
               " on the processor" + (fits ? "" : ", and its memory is too small"));
  return takes_it ? gpu : Device{};
}

std::string device_text(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : std::string(cuda_prefix) + std::to_string(device.index);
}

}  // namespace ts::app
