// The problem half of planning: an operation with its shape, as a plain value.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0 {

/// The operations that are planned.
enum class Operation {
  tsmttsm,
  gram,
  tsmm,
  tsmm_in_place,
  tsm2r,
  spmm,
  inner_and_gram,
  project_out,
  column_norms,
  trsm
};
inline constexpr Operation every_operation[] = {
    Operation::tsmttsm, Operation::gram,           Operation::tsmm,        Operation::tsmm_in_place, Operation::tsm2r,
    Operation::spmm,    Operation::inner_and_gram, Operation::project_out, Operation::column_norms,  Operation::trsm};

/// "tsmttsm", "gram" and so on, and what has such a name; nothing where no operation or type has it.
[[nodiscard]] std::string_view name_of(Operation) noexcept;
[[nodiscard]] std::optional<Operation> operation_named(std::string_view) noexcept;
[[nodiscard]] std::optional<DType> dtype_named(std::string_view) noexcept;
/// The names of all element types in one line, with `last` before the last of them.
[[nodiscard]] std::string dtype_names(std::string_view last = ", ");

/// Shapes by operation (n is always the long dimension of the row loop):
///   tsmttsm A n x p, B n x q; gram A n x p; tsmm X n x p, Y n x q; tsmm_in_place the same;
///   tsm2r D n x p, X p x q; spmm A n x p with `nonzeros`, X p x q;
///   inner_and_gram and project_out V n x p, W n x q; column_norms X n x p; trsm X n x p.
struct Problem {
  Operation operation = Operation::tsmttsm;
  DType type = DType::float64;
  index_t n = 0, p = 1, q = 1;
  bool accumulate = false;                     ///< beta != 0: the output is read too
  bool contiguous = true;                      ///< all tall operands row-major with ld = width
  index_t nonzeros = 0;                        ///< spmm
  int index_bytes = 4;                         ///< spmm
  bool wants_inner = true, wants_gram = true;  ///< inner_and_gram and project_out: which products
  friend auto operator<=>(const Problem&, const Problem&) = default;
};

/// The least number of bytes that must pass between memory and processor, and the arithmetic.
struct Cost {
  double read_bytes = 0, written_bytes = 0, flops = 0;
  [[nodiscard]] double bytes() const noexcept { return read_bytes + written_bytes; }
  friend bool operator==(const Cost&, const Cost&) = default;
};
/// @throws Error(invalid_argument) for negative sizes.
[[nodiscard]] Cost cost_of(const Problem&);

}  // namespace ts::inline v0
