// Takes the place of the peers in a build without CUDA's headers.
#include "tallskinny/app/tsbench/gpu/peers.hpp"

namespace ts::bench {

template <class T>
std::vector<GpuPeer<T>> gpu_peers(const Context&, const DeviceOperands<T>&) {
  return {};
}
#define TS_INSTANTIATE(T) \
  template std::vector<GpuPeer<T>> gpu_peers<T>(const Context&, const DeviceOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

std::string vendor_versions() {
  return {};
}

}  // namespace ts::bench
