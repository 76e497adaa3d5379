// The backends of DenseSolver. For the .cpp files of this folder alone.
#pragma once

#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"

namespace ts::inline v0::solvers {

/// LAPACK, or Eigen for small matrices and where there is no LAPACK.
template <class T>
[[nodiscard]] std::unique_ptr<const DenseSolver<T>> on_processor();

/// @param stream of a device; cuSOLVER must be there.
template <class T>
[[nodiscard]] std::unique_ptr<const DenseSolver<T>> by_cusolver(const cuda::Stream& stream);

}  // namespace ts::inline v0::solvers
