// Arguments of kernels that are more than a number: the host's side of what kernels/*.cuh declare.
#pragma once

#include "tallskinny/gemm/core/types.hpp"

namespace ts::cuda {

/// device/operand.cuh; strides in elements.
struct OperandArgument {
  const void* data;
  index_t row_stride, column_stride;
};

/// Complex<double>: a scalar of any result type.
struct ScalarArgument {
  double re, im;
};
template <class R>
[[nodiscard]] ScalarArgument scalars_of(R x) noexcept {
  if constexpr (is_complex<R>)
    return {x.real(), x.imag()};
  else
    return {x, 0};
}

}  // namespace ts::cuda
