// Other libraries doing the same work, one file each in this folder; absent ones leave their columns empty. Only the
// benchmark links the processor's (Eigen, OpenBLAS); NVIDIA's are loaded when they are there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::bench {

/// One way in which a library does what a case asks for, made ready for operands like those it was made with.
template <class T, Space S>
struct Peer {
  std::string library;  ///< its column: "eigen", "openblas", "vendor"
  std::string way;      ///< "gemm", "lt", "syrk", ...; empty where there is only one
  /// Writes the same results; in ctx.stream. Throws where the library refuses.
  std::function<void(const Operands<T, S>&)> run;
};
template <class T>
using HostPeer = Peer<T, Space::host>;
template <class T>
using DevicePeer = Peer<T, Space::device>;

/// Every way that the libraries of a place have for the operation and type of `example`; each body adds its own.
template <class T, Space S>
[[nodiscard]] std::vector<Peer<T, S>> peers_of(const Context& ctx, const Operands<T, S>& example);

/// Of Eigen and OpenBLAS.
void set_peer_threads(int threads);
[[nodiscard]] std::string eigen_version();
/// Empty when the build has no OpenBLAS.
[[nodiscard]] std::string openblas_version();
/// "cuBLAS 13.1.0, cuSPARSE 12.6.3"; empty without them.
[[nodiscard]] std::string vendor_versions();

/// What runs the operation of `example` with one library of the host; empty where it has no such operation or type.
/// Bodies alone, not their owners: eigen.cpp is compiled for this processor and must not own shared code.
template <class T>
[[nodiscard]] std::function<void(const HostOperands<T>&)> eigen_way(const HostOperands<T>& example);
template <class T>
[[nodiscard]] std::function<void(const HostOperands<T>&)> openblas_way(const HostOperands<T>& example);
void set_eigen_threads(int threads);
void set_openblas_threads(int threads);

}  // namespace ts::bench
