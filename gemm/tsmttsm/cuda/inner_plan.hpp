// How a product C = op(A) B of tall operands runs on a GPU: the constants of kernels/tsmttsm.cuh and its
// launch, from shapes, strides, alignments and the device. Pure functions.
#pragma once

#include "tallskinny/gemm/backend/cuda/kernel_plan.hpp"

namespace ts::cuda {

/// A tall operand as far as planning needs it: strides in elements, address modulo 256.
struct TallOperand {
  index_t row_stride = 1, column_stride = 1;
  unsigned address = 0;
  friend bool operator==(const TallOperand&, const TallOperand&) = default;
};

struct InnerProblem {
  DType type = DType::float64;
  index_t rows = 0, p = 1, q = 1;
  bool gram = false;  ///< B is A
  TallOperand a, b;
  friend bool operator==(const InnerProblem&, const InnerProblem&) = default;
};

/// What a kernel of this shape needs to know of a device.
struct InnerDevice {
  int multiprocessors = 132;
  int shared_bytes = 227 * 1024;  ///< that one block may use
};

struct InnerPlan {
  KernelPlan kernel;
  int group_size = 1;  ///< blocks whose partial results are added first
};

/// Scalars (twice the width for complex types) that one launch can take on each side; wider products are cut
/// into panels by the caller.
inline constexpr index_t inner_scalars_max = 128;

[[nodiscard]] InnerPlan plan_inner(const InnerProblem&, const InnerDevice&);

}  // namespace ts::cuda
