#include "tallskinny/app/common/device.hpp"

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::app {

namespace {

constexpr std::string_view cuda_prefix = "cuda:";

}  // namespace

bool is_device_name(std::string_view text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  int index = -1;
  return text.starts_with(cuda_prefix) && parse_value(text.substr(cuda_prefix.size()), index) && index >= 0;
}

Device resolve_device(std::string_view text) {
  expects(is_device_name(text), "--device: expected auto, cpu, cuda or cuda:INDEX");
  if (!text.starts_with("cuda")) return {};

  const std::string asked = "--device " + std::string(text) + ": ";
  const cuda::DeviceList found = cuda::list_devices();
  if (found.devices.empty()) throw Error(Errc::no_device, asked + found.reason);
  int index = 0;
  if (text.starts_with(cuda_prefix)) parse_value(text.substr(cuda_prefix.size()), index);
  if (index >= static_cast<int>(found.devices.size()))
    throw Error(Errc::no_device,
                asked + "there is no such device; the last one is cuda:" + std::to_string(found.devices.size() - 1));
  return {Device::Kind::cuda, index};
}

Device resolve_processor(std::string_view text) {
  const Device device = resolve_device(text);
  if (device.kind == Device::Kind::cuda)
    throw Error(Errc::no_device, "--device " + std::string(text) +
                                     ": this program of this version runs on the processor only; use "
                                     "--device cpu");
  return device;
}

std::string device_text(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : std::string(cuda_prefix) + std::to_string(device.index);
}

}  // namespace ts::app
