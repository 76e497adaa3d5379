#include "tallskinny/gemm/runtime/gpu/driver.hpp"

#include <array>
#include <mutex>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::inline v0::cuda {

namespace {

Driver load_driver() {
  Driver d;
  static const SharedLibrary library(std::array<const char*, 1>{"libcuda.so.1"});
  if (!library.loaded()) {
    d.missing = "no NVIDIA driver was found on this machine";
    return d;
  }
  bool complete = true;
#define TS_BIND(member, symbol, declaration) complete = library.bind(d.member, symbol) && complete;
  TS_FOR_EACH_DRIVER_FUNCTION(TS_BIND)
#undef TS_BIND
  library.bind(d.param_info, "cuFuncGetParamInfo");
  if (int version = 0; complete && d.driver_version(&version) == CUDA_SUCCESS && version >= 12030)
    library.bind(d.launch_with, "cuLaunchKernelEx");
  library.bind(d.tensor_map, "cuTensorMapEncodeTiled");
  if (!complete) {
    d.missing = "the NVIDIA driver is too old (it lacks functions of CUDA 11)";
    return d;
  }
  const CUresult code = d.init(0);
  if (code == CUDA_ERROR_NO_DEVICE)
    d.missing = "no CUDA device was found (is CUDA_VISIBLE_DEVICES set?)";
  else if (code != CUDA_SUCCESS) {
    const char* text = nullptr;
    d.error_text(code, &text);
    d.missing =
        "the NVIDIA driver did not start: " + (text != nullptr ? std::string(text) : "error " + std::to_string(code));
  }
  return d;
}

}  // namespace

const Driver& find_driver() {
  static const Driver d = load_driver();
  return d;
}

const Driver& driver(Place where) {
  const Driver& d = find_driver();
  if (!d.missing.empty()) throw Error(Errc::no_device, "no GPU can be used: " + d.missing, where);
  return d;
}

void check(CUresult code, const std::string& what, Place where) {
  if (code == CUDA_SUCCESS) [[likely]]
    return;
  const char *name = nullptr, *text = nullptr;
  driver().error_name(code, &name);
  driver().error_text(code, &text);
  const Errc kind = code == CUDA_ERROR_OUT_OF_MEMORY ? Errc::out_of_memory : Errc::device_failure;
  throw Error(kind,
              "the GPU failed to " + what + ": " + (text != nullptr ? text : "unknown error") + " (" +
                  (name != nullptr ? name : std::to_string(code)) + ")",
              where);
}

namespace {

/// Primary contexts are shared with everything else in the process that uses the device; they are retained
/// once and never released, as CUDA's runtime does.
CUcontext primary_context(int device) {
  static std::mutex mutex;
  static std::vector<CUcontext> contexts;
  const std::lock_guard lock(mutex);
  const auto at = static_cast<std::size_t>(device);
  if (at >= contexts.size()) contexts.resize(at + 1);
  if (contexts[at] == nullptr) {
    CUdevice handle = 0;
    check(driver().device_get(&handle, device), "find device " + std::to_string(device));
    check(driver().retain_context(&contexts[at], handle), "start work on device " + std::to_string(device));
  }
  return contexts[at];
}

}  // namespace

Active::Active(int device) {
  check(driver().push_context(primary_context(device)), "switch to device " + std::to_string(device));
}

Active::~Active() {
  CUcontext ours = nullptr;
  find_driver().pop_context(&ours);  // fails only if somebody else popped it: nothing is left to undo then
}

}  // namespace ts::inline v0::cuda
