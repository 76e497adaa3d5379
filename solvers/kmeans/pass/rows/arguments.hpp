// Arguments of kernels that read rows. Read by the run-time compiler, too.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0::cuda {

/// The integer type that atomic additions take.
using word64 = unsigned long long;

struct RowsArgument {
  const void* data = nullptr;
  index_t count = 0, row_stride = 0, column_stride = 1;  ///< in elements
  const double* scale = nullptr;                         ///< of each row, or none
};

/// The rows of a kernel: all of them, or those of a list whose length another kernel left.
struct Selection {
  const index_t* list = nullptr;  ///< null: all
  const word64* listed = nullptr;
};

}  // namespace ts::inline v0::cuda
