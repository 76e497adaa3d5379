#include "tallskinny/app/tsbench/gpu/peers.hpp"

#include "tallskinny/app/tsbench/gpu/vendor.hpp"

namespace ts::bench {

template <class T>
std::vector<GpuPeer<T>> gpu_peers(const Context& ctx, const DeviceOperands<T>& example) {
  std::vector<GpuPeer<T>> peers;
  add_cublas_peers(ctx, example, peers);
  add_cublaslt_peers(ctx, example, peers);
  add_cusparse_peers(ctx, example, peers);
  return peers;
}
#define TS_INSTANTIATE(T) \
  template std::vector<GpuPeer<T>> gpu_peers<T>(const Context&, const DeviceOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

std::string vendor_versions() {
  const std::string blas = cublas_version(), sparse = cusparse_version();
  return (blas.empty() ? "" : "cuBLAS " + blas) + (blas.empty() || sparse.empty() ? "" : ", ") +
         (sparse.empty() ? "" : "cuSPARSE " + sparse);
}

}  // namespace ts::bench
