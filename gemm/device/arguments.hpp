// Arguments of kernels that several families have: host code and kernels read this text.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0::cuda {

/// device/operand.cuh; strides in elements.
struct OperandArgument {
  const void* data;
  index_t row_stride, column_stride;
};

/// A scalar of any result type.
struct ScalarArgument {
  double re, im;
};

/// The parts of a sum over rows (device/parts.cuh).
struct PartsArgument {
  double* sums = nullptr;  ///< of the first part here
  index_t rows = 0;        ///< of every part but the last
  index_t size = 0;        ///< numbers of a part
  index_t here = 1;        ///< parts, whose blocks follow each other in the grid
};

}  // namespace ts::inline v0::cuda
