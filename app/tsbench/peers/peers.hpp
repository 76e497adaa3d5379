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

/// Sets the threads of Eigen and OpenBLAS.
void set_peer_threads(int threads);
[[nodiscard]] std::string eigen_version();
/// Empty when the build has no OpenBLAS.
[[nodiscard]] std::string openblas_version();
/// "cuBLAS 13.1.0, cuSPARSE 12.6.3"; empty without them.
[[nodiscard]] std::string vendor_versions();

/// C = A^H B, C = A B and C = C - A B of contiguous rows, C m x n with k terms an entry.
enum class Product { inner, plain, subtracted };

/// Operations of a host library on contiguous rows; null for those that it lacks. Plain functions: eigen.cpp is
/// compiled for this processor and must not own shared code.
template <class T>
struct HostLibrary {
  void (*multiply)(Product product, index_t m, index_t n, index_t k, const T* a, const T* b, T* c);
  void (*gram)(index_t p, index_t n, const T* a, T* c);  ///< at least one triangle of A^H A
  void (*norms)(index_t n, index_t p, const T* x, T* norms);
  void (*solve)(index_t n, index_t p, const T* r, T* x);                              ///< X = X R^-1
  void (*multiply_in_place)(index_t n, index_t p, const T* s, index_t q, T* x);       ///< X(:, 0 .. q-1) = X S
  void (*sparse)(const HostOperands<T>& operands, const std::int32_t* row_pointers);  ///< out = A x
};
/// Nothing where the processor lacks what the file was compiled for. T: one of the four result types.
template <class T>
[[nodiscard]] const HostLibrary<T>* eigen_library();
template <class T>
[[nodiscard]] const HostLibrary<T>* openblas_library();
void set_eigen_threads(int threads);
void set_openblas_threads(int threads);

}  // namespace ts::bench
