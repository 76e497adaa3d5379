// Takes the place of devices.cpp in a build without the CUDA backend.
#include "tallskinny/gemm/backend/cuda/devices.hpp"

namespace ts::cuda {

bool built() noexcept {
  return false;
}

DeviceList list_devices() {
  return {{}, "this program was built without the CUDA backend (configure with -DTS_CUDA=ON)"};
}

}  // namespace ts::cuda
