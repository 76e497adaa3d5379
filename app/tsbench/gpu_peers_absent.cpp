// Takes the place of gpu_peers_cublas.cpp in a build without cuBLAS's headers.
#include "tallskinny/app/tsbench/gpu_peers.hpp"

namespace ts::bench {

template <class T>
std::vector<GpuPeerBody<T>> gpu_peers(const Context&, const Problem&) {
  return {};
}
#define TS_INSTANTIATE(T) template std::vector<GpuPeerBody<T>> gpu_peers<T>(const Context&, const Problem&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

std::string cublas_version() {
  return {};
}

}  // namespace ts::bench
