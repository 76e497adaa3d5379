// NVIDIA's libraries doing the same work; loaded when they are there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/backend/context.hpp"

namespace ts::bench {

template <class T>
struct GpuPeerBody {
  std::string name;
  std::function<void(const Operands<T>&)> run;  ///< on device operands, in ctx.stream
};

/// Every way in which cuBLAS can do `problem`; none where it cannot, or is not there.
template <class T>
[[nodiscard]] std::vector<GpuPeerBody<T>> gpu_peers(const Context& ctx, const Problem& problem);

/// "13.1.0"; empty without cuBLAS.
[[nodiscard]] std::string cublas_version();

}  // namespace ts::bench
