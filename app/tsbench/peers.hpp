// Other libraries doing the same work, one file each. Only the benchmark links them.
#pragma once

#include <functional>
#include <string>

#include "tallskinny/app/tsbench/operands.hpp"

namespace ts::bench {

/// What runs the operation in `o` with Eigen or OpenBLAS, writing the same results; empty where the library
/// has no such operation or type.
template <class T>
[[nodiscard]] std::function<void()> eigen_peer(const Operands<T>& o);
template <class T>
[[nodiscard]] std::function<void()> openblas_peer(const Operands<T>& o);

void set_eigen_threads(int threads);
void set_openblas_threads(int threads);
[[nodiscard]] std::string eigen_version();
/// Empty when the build has no OpenBLAS.
[[nodiscard]] std::string openblas_version();

}  // namespace ts::bench
