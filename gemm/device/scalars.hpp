// Scalars of any type as arguments of kernels.
#pragma once

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/device/arguments.hpp"

namespace ts::inline v0::cuda {

template <class R>
[[nodiscard]] ScalarArgument scalars_of(R x) noexcept {
  if constexpr (is_complex<R>)
    return {x.real(), x.imag()};
  else
    return {x, 0};
}

}  // namespace ts::inline v0::cuda
