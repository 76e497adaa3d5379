// Bodies of NVIDIA's libraries.
#pragma once

#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/vendor_library.hpp"

namespace ts::bench {

template <class T>
void add_cublas_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm that cuBLASLt's heuristic proposes.
template <class T>
void add_cublaslt_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm for sparse times dense.
template <class T>
void add_cusparse_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);

using cuda::expect_success;
using cuda::VendorLibrary;
using cuda::version_by;

/// "13.1.0"; empty where there is none.
[[nodiscard]] std::string cublas_version();
[[nodiscard]] std::string cusparse_version();

}  // namespace ts::bench
