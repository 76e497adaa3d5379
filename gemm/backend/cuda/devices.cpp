#include "tallskinny/gemm/backend/cuda/devices.hpp"

#include <cuda_runtime_api.h>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::cuda {

namespace {

void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess)
    throw Error(Errc::device_failure, std::string("the CUDA runtime failed to ") + what + ": " +
                                          cudaGetErrorString(code) + " (code " + std::to_string(code) + ")");
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "describe a device");
  return value;
}

}  // namespace

bool built() noexcept {
  return true;
}

DeviceList list_devices() {
  DeviceList list;
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    list.reason = driver == 0
                      ? "no NVIDIA driver was found on this machine"
                      : "the NVIDIA driver is too old for CUDA " + std::to_string(CUDART_VERSION / 1000) +
                            " (it offers CUDA " + std::to_string(driver / 1000) + ")";
    return list;
  }
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0)) {
    list.reason = "no CUDA device was found (is CUDA_VISIBLE_DEVICES set?)";
    return list;
  }
  check(code, "count the devices");
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, i), "describe a device");
    list.devices.push_back({i, properties.name, attribute(cudaDevAttrComputeCapabilityMajor, i),
                            attribute(cudaDevAttrComputeCapabilityMinor, i),
                            attribute(cudaDevAttrMultiProcessorCount, i), properties.totalGlobalMem});
  }
  return list;
}

}  // namespace ts::cuda
