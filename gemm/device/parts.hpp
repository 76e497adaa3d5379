// Sums over rows in parts (comm/row_parts.hpp) on a GPU: where kernels leave them, and what becomes
// of them.
#pragma once

#include <span>

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/device/arguments.hpp"
#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

[[nodiscard]] KernelPlan plan_sum_parts(DType type, index_t results, bool of_results = false);

/// out = alpha (the sum of all parts, added in their order in float64) + beta out. A part is out.rows x out.cols
/// results as they lie row by row; `mirror` and `triangle` as device/sum_parts.cuh says.
template <class R>
void add_parts_of_results(const Context& ctx, std::span<const R> parts, Op op, R alpha, R beta, DeviceStrided<R> out,
                          R* mirror = nullptr, bool triangle = false);

/// Kernels that leave parts plan for one of them. How a tall operand looks to such a plan does not depend on
/// how many rows of it are here.
void plan_for_parts(GpuProblem& problem, const RowParts& parts) noexcept;
template <class T>
[[nodiscard]] Form part_form_of(DeviceStrided<T> v) noexcept {
  if (v.cols == 1 && v.row_stride == 1) v.col_stride = 1;  // a vector
  Form form = form_of(v);
  if (form.layout == Layout::row_major) return form;
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(v.data)) |
                    static_cast<std::uint64_t>(v.col_stride) * sizeof(T) | 256;
  return {Layout::col_major, false, 1 << std::countr_zero(bits), 0};
}

/// Workspace for the parts of all ranks, and for what a kernel needs beside it.
class PartSums {
 public:
  /// `size` numbers a part, `bytes` for the kernel.
  PartSums(const Context& ctx, const RowParts& parts, index_t size, std::size_t bytes);
  [[nodiscard]] PartsArgument argument() const noexcept {
    return {sums_ + parts_.first * size_, parts_.part_rows, size_, parts_.here};
  }
  [[nodiscard]] void* workspace() const noexcept { return workspace_; }
  /// The part of a rank without rows, where every rank has one.
  void clear() const;
  /// Gets the parts of other ranks. False: some are still to come.
  [[nodiscard]] bool gather() const { return gather_device_parts(ctx_, parts_, sums_, size_); }

  /// out = alpha sum + beta out, from numbers `first` (and, for imaginary parts, `imaginary`) on of every
  /// part; `mirror` and `triangle` as device/sum_parts.cuh says.
  template <class R>
  void finish(index_t first, index_t imaginary, Op op, R alpha, R beta, DeviceStrided<R> out, R* mirror = nullptr,
              bool triangle = false) const;

  [[nodiscard]] const double* sums() const noexcept { return sums_; }
  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] index_t count() const noexcept { return parts_.count; }

 private:
  const Context& ctx_;
  RowParts parts_;
  index_t size_;
  double* sums_;
  void* workspace_;
};

}  // namespace ts::inline v0::cuda
