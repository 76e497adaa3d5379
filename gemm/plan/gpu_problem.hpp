// The problem half of planning on a GPU: a Problem, and how its operands lie in device memory.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::cuda {

/// How an operand lies in memory, as far as kernels care. Leading dimensions and addresses themselves are
/// kernel arguments.
struct Form {
  Layout layout = Layout::row_major;
  bool contiguous = true;  ///< no gaps between lines (rows, or columns of a column-major operand)
  /// The power of two up to 256 that divides the address and, with gaps, the line's bytes.
  int alignment = 256;
  index_t gap = 0;  ///< elements between lines where they are so few that reading them costs little, else 0
  friend auto operator<=>(const Form&, const Form&) = default;
};

template <class T>
[[nodiscard]] Form form_of(const DeviceStrided<T>& v) noexcept {
  Form form;
  const bool row_major = v.col_stride == 1 && (v.row_stride >= v.cols || v.row_stride != 1);
  const index_t line = row_major ? v.cols : v.rows, ld = row_major ? v.row_stride : v.col_stride;
  form.layout = row_major ? Layout::row_major : Layout::col_major;
  form.contiguous = ld == line;
  const index_t gap = ld - line;
  if (gap * static_cast<index_t>(sizeof(T)) < 32 || gap <= line / 8) form.gap = gap;
  auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(v.data)) | 256;
  if (!form.contiguous) bits |= static_cast<std::uint64_t>(ld) * sizeof(T);
  form.alignment = 1 << std::countr_zero(bits);
  return form;
}

/// The form of `width` columns among `all` whose form is `form`.
[[nodiscard]] inline Form form_among(Form form, index_t width, index_t all, DType type) noexcept {
  if (width == all || form.layout != Layout::row_major) return form;
  const auto starts = static_cast<std::uint64_t>((width | all) * static_cast<index_t>(size_of(type)));
  return {form.layout, false, std::min(form.alignment, 1 << std::countr_zero(starts | 256)), 0};
}

/// Everything a kernel family decides by. The operands stand in the order in which Problem lists them: for
/// tsmttsm A, B and C, for tsmm X, S and Y.
struct GpuProblem {
  Problem problem;
  Op op = Op::none;  ///< of the operand that the operation may transpose
  Form first, second, out;
  Determinism determinism = Determinism::run_to_run;
  /// Not 0: sums over rows are left as the sums of so many parts of the rows, problem.n rows each.
  index_t parts = 0;
  bool shifted = false;  ///< spmm: A less a multiple of I
  SparseFacts sparse;    ///< spmm: what is known of A
  friend auto operator<=>(const GpuProblem&, const GpuProblem&) = default;
};

}  // namespace ts::inline v0::cuda
