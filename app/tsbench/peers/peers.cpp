#include "tallskinny/app/tsbench/peers/peers.hpp"

#if TS_BENCH_VENDOR
#include "tallskinny/app/tsbench/peers/vendor.hpp"
#endif

namespace ts::bench {

template <class T, Space S>
std::vector<Peer<T, S>> peers_of([[maybe_unused]] const Context& ctx, const Operands<T, S>& example) {
  std::vector<Peer<T, S>> peers;
  if constexpr (S == Space::host) {
    if (auto way = eigen_way(example)) peers.push_back({"eigen", "", std::move(way)});
#if TS_BENCH_OPENBLAS
    if (auto way = openblas_way(example)) peers.push_back({"openblas", "", std::move(way)});
#endif
  } else {
#if TS_BENCH_VENDOR
    add_cublas_peers(ctx, example, peers);
    add_cublaslt_peers(ctx, example, peers);
    add_cusparse_peers(ctx, example, peers);
#endif
  }
  return peers;
}
#define TS_INSTANTIATE(T)                                                                \
  template std::vector<HostPeer<T>> peers_of<T>(const Context&, const HostOperands<T>&); \
  template std::vector<DevicePeer<T>> peers_of<T>(const Context&, const DeviceOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

void set_peer_threads(int threads) {
  set_eigen_threads(threads);
#if TS_BENCH_OPENBLAS
  set_openblas_threads(threads);
#endif
}

#if !TS_BENCH_OPENBLAS
std::string openblas_version() { return {}; }
#endif

std::string vendor_versions() {
#if TS_BENCH_VENDOR
  const std::string blas = cublas_version(), sparse = cusparse_version();
  return (blas.empty() ? "" : "cuBLAS " + blas) + (blas.empty() || sparse.empty() ? "" : ", ") +
         (sparse.empty() ? "" : "cuSPARSE " + sparse);
#else
  return {};
#endif
}

}  // namespace ts::bench
