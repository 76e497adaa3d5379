// Planning what the row-streaming kernels have in common: how a tall operand gets into shared memory
// (device/operand.cuh), from its strides and alignment.
#pragma once

#include "tallskinny/gemm/device/tall_policy.hpp"
#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

/// A tall operand as far as planning needs it: strides in elements, address modulo 256.
struct TallOperand {
  index_t row_stride = 1, column_stride = 1;
  unsigned address = 0;
  friend bool operator==(const TallOperand&, const TallOperand&) = default;
};

/// An operand of this form, with strides and an address that stand for all of the form.
[[nodiscard]] TallOperand tall_operand_of(const Form& form, DType type, index_t rows, index_t columns) noexcept;

/// What a persistent grid of one block a multiprocessor may use.
struct BlockLimits {
  int multiprocessors = 132;
  int shared_bytes = 227 * 1024;  ///< that one block may use
  bool bulk_copies = true;        ///< as DeviceFeatures has it
  bool warpgroups = false;        ///< as DeviceFeatures has it
  int residents = 1;              ///< blocks that should share a multiprocessor where they can
  bool few_requests = false;      ///< memory slows down when it is asked for more than it can bring
  double memory = 1;              ///< bytes a cycle and multiprocessor, as a multiple of what an H100 copies
  double float64 = 1, split = 1,
         half = 1;  ///< cycles of tensor instructions (TF32 if split), as multiples of an H100's
  friend bool operator==(const BlockLimits&, const BlockLimits&) = default;
};

/// The device's; at the level gpu_to_gpu the same numbers for every device, so that what belongs together in
/// partial sums depends on the shape alone.
[[nodiscard]] BlockLimits limits_of(const DeviceInfo& device, Determinism level) noexcept;
/// The same for the blocks that share one of problem.parts parts of the rows; at the level gpu_to_gpu so many
/// that the blocks of all parts fill 132 multiprocessors, as they do 66 or 44, whole numbers of times.
[[nodiscard]] BlockLimits part_limits_of(const DeviceInfo& device, const GpuProblem& problem, index_t panels) noexcept;

/// A tall operand in shared memory; sizes in scalars (the parts of complex elements) and bytes of scalars.
struct TallLayout {
  int scalar = 8, parts = 1;
  int width = 1;  ///< scalars of a row
  TallMode mode = TallMode::flat;
  int pitch = 1;       ///< scalars between rows in shared memory
  int unit = 16;       ///< bytes of an asynchronous copy
  bool shift = false;  ///< a flat operand that may begin off a 128-byte line
  unsigned address = 0;
  int vector = 1;  ///< scalars that a lane reads at once

  [[nodiscard]] int folded(int fold) const noexcept { return (fold - 1) * pitch + width; }
  [[nodiscard]] int row_bytes(int fold) const noexcept { return fold * pitch * scalar; }
};

[[nodiscard]] TallLayout layout_of(DType type, index_t columns, const TallOperand& operand) noexcept;

/// Registers that a thread of a block of so many warps may have: each of four schedulers has 16 Ki.
[[nodiscard]] int register_cap(int warps) noexcept;
/// The same of `warps` warps beside `givers` that keep `kept` of theirs and give the rest away.
[[nodiscard]] int registers_left(int warps, int givers, int kept) noexcept;

}  // namespace ts::inline v0::cuda
