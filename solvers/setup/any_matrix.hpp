// A matrix in memory, sparse or dense.
#pragma once

#include <span>
#include <variant>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::solvers {

/// T: double or std::complex<double>.
template <class T>
using AnyMatrix = std::variant<CsrMatrix<T>, Matrix<T>>;

/// All numbers that an AnyMatrix stores, row by row; const where it is.
template <class Any>
[[nodiscard]] auto entries_of(Any& matrix) {
  return std::visit(
      [](auto& a) {
        if constexpr (requires { a.values; })
          return std::span(a.values.data(), a.values.size());
        else
          return std::span(a.data(), static_cast<std::size_t>(a.rows() * a.cols()));
      },
      matrix);
}

}  // namespace ts::solvers
