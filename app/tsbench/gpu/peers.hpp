// NVIDIA's libraries doing the same work; loaded when they are there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tallskinny/app/tsbench/gpu/pool.hpp"

namespace ts::bench {

template <class T>
struct GpuPeer {
  std::string name;                                   ///< "gemm", "lt", "syrk", ...
  std::function<void(const DeviceOperands<T>&)> run;  ///< in ctx.stream; throws where the library refuses
};

/// Every way in which cuBLAS, cuBLASLt and cuSPARSE can do what a case asks for; none where they cannot, or
/// are not there. `example`: operands of that case.
template <class T>
[[nodiscard]] std::vector<GpuPeer<T>> gpu_peers(const Context& ctx, const DeviceOperands<T>& example);

/// "cuBLAS 13.1.0, cuSPARSE 12.6.3"; empty without them.
[[nodiscard]] std::string vendor_versions();

}  // namespace ts::bench
