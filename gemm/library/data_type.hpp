// The engine's types by NVIDIA's names.
#pragma once

#include <library_types.h>

#include <array>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::cuda {

template <class T>
[[nodiscard]] constexpr cudaDataType_t data_type() {
  constexpr std::array<cudaDataType_t, 6> types = {CUDA_R_64F, CUDA_C_64F, CUDA_R_32F,
                                                   CUDA_C_32F, CUDA_R_16F, CUDA_R_16BF};
  return types[static_cast<std::size_t>(dtype_of<T>)];
}

}  // namespace ts::inline v0::cuda
