#include "tallskinny/app/tsbench/peers/peers.hpp"

#if TS_BENCH_VENDOR
#include "tallskinny/app/tsbench/peers/vendor.hpp"
#endif

namespace ts::bench {

namespace {

template <class T>
std::function<void(const HostOperands<T>&)> way_of(const HostLibrary<T>& by, const HostOperands<T>& example) {
  using O = const HostOperands<T>&;
  const index_t n = example.problem.n, p = example.problem.p, q = example.problem.q;
  switch (example.problem.operation) {
    case Operation::tsmttsm:
      return [=](O o) { by.multiply(Product::inner, p, q, n, o.x.data, o.y.data, o.result.data); };
    case Operation::gram: return [=](O o) { by.gram(p, n, o.x.data, o.result.data); };
    case Operation::tsmm: return [=](O o) { by.multiply(Product::plain, n, q, p, o.x.data, o.small.data, o.out.data); };
    case Operation::tsm2r: return [=](O o) { by.multiply(Product::plain, n, q, p, o.x.data, o.y.data, o.out.data); };
    case Operation::inner_and_gram:
      return [=](O o) {
        by.multiply(Product::inner, p, q, n, o.x.data, o.y.data, o.result.data);
        by.gram(q, n, o.y.data, o.gram.data);
      };
    case Operation::project_out:
      return [=](O o) {
        by.multiply(Product::subtracted, n, q, p, o.x.data, o.small.data, o.out.data);
        by.multiply(Product::inner, p, q, n, o.x.data, o.out.data, o.result.data);
        by.gram(q, n, o.out.data, o.gram.data);
      };
    case Operation::column_norms: return [=](O o) { by.norms(n, p, o.x.data, o.result.data); };
    case Operation::trsm: return [=](O o) { by.solve(n, p, o.small.data, o.out.data); };
    case Operation::tsmm_in_place:
      if (by.multiply_in_place == nullptr) return {};
      return [=](O o) { by.multiply_in_place(n, p, o.small.data, q, o.out.data); };
    case Operation::spmm: {
      const auto& a = example.sparse;
      if (by.sparse == nullptr || a.nonzeros() > INT32_MAX) return {};  // row pointers are of the type of the indices
      return [=, pointers = std::vector<std::int32_t>(a.pointers, a.pointers + n + 1)](O o) {
        by.sparse(o, pointers.data());
      };
    }
  }
  return {};
}

}  // namespace

template <class T, Space S>
std::vector<Peer<T, S>> peers_of([[maybe_unused]] const Context& ctx, const Operands<T, S>& example) {
  std::vector<Peer<T, S>> peers;
  if constexpr (S == Space::host) {
    if constexpr (std::is_same_v<T, result_t<T>>) {
      const auto add = [&](const char* name, const HostLibrary<T>* library) {
        if (library == nullptr) return;
        if (auto way = way_of(*library, example)) peers.push_back({name, "", std::move(way)});
      };
      add("eigen", eigen_library<T>());
#if TS_BENCH_OPENBLAS
      add("openblas", openblas_library<T>());
#endif
    }
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
