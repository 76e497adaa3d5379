// A matrix in memory, sparse or dense.
#pragma once

#include <variant>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::solvers {

/// T: double or std::complex<double>.
template <class T>
using AnyMatrix = std::variant<CsrMatrix<T>, Matrix<T>>;

}  // namespace ts::solvers
