#include "tallskinny/gemm/runtime/gpu/tensor_map.hpp"

#include <bit>

#include "tallskinny/gemm/runtime/gpu/driver.hpp"

namespace ts::inline v0::cuda {

TensorMap tensor_map_of(int device, const void* data, int scalar_bytes, index_t rows, index_t columns,
                        index_t line_bytes, int box_rows) {
  if (driver().tensor_map == nullptr)
    throw Error(Errc::device_failure, "the NVIDIA driver is too old for this GPU (it lacks functions of CUDA 12)");
  const CUtensorMapDataType type = scalar_bytes == 8   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64
                                   : scalar_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                       : CU_TENSOR_MAP_DATA_TYPE_UINT16;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const auto stride = static_cast<cuuint64_t>(line_bytes);
  const cuuint32_t box[] = {static_cast<cuuint32_t>(128 / scalar_bytes), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every[] = {1, 1};
  CUtensorMap map;
  const Active active(device);
  check(driver().tensor_map(&map, type, 2, const_cast<void*>(data), sizes, &stride, box, every,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "describe a matrix to its copy engine");
  return std::bit_cast<TensorMap>(map);
}

}  // namespace ts::inline v0::cuda
