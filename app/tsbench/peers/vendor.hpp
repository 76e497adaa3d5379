// Bodies of NVIDIA's libraries.
#pragma once

#include <library_types.h>

#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::bench {

template <class T>
void add_cublas_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm that cuBLASLt's heuristic proposes.
template <class T>
void add_cublaslt_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm for sparse times dense.
template <class T>
void add_cusparse_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);

/// "13.1.0"; empty where there is none.
[[nodiscard]] std::string cublas_version();
[[nodiscard]] std::string cusparse_version();

/// Of a library whose function this is.
template <class Property>
[[nodiscard]] std::string version_by(Property* property) {
  int major = 0, minor = 0, patch = 0;
  property(MAJOR_VERSION, &major), property(MINOR_VERSION, &minor), property(PATCH_LEVEL, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// Throws unless `status` is a success, which is 0 in all of NVIDIA's libraries.
inline void expect_success(const char* library, int status) {
  if (status != 0)
    throw Error(Errc::device_failure, std::string(library) + " failed with status " + std::to_string(status));
}

}  // namespace ts::bench
