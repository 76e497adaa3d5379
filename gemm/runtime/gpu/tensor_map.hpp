// What the copy engine is told of a matrix (device/tensor_copy.cuh).
#pragma once

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/gemm/runtime/gpu/tensor_map_policy.hpp"

namespace ts::inline v0::cuda {

/// `rows` lines of `columns` scalars of `scalar_bytes`, `line_bytes` apart (a multiple of 16, as `data` is),
/// to be copied in boxes of `box_rows` lines of 128 bytes.
/// @throws Error(no_device) where there is no driver, Error(device_failure) with its words if it refuses.
[[nodiscard]] TensorMap tensor_map_of(int device, const void* data, int scalar_bytes, index_t rows, index_t columns,
                                      index_t line_bytes, int box_rows);

}  // namespace ts::inline v0::cuda
