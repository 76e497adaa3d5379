// Checks of operands that every operation makes before it computes.
#pragma once

#include <string>

#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0::detail {

/// Throws a sentence that names the operation and the operand unless `v` is rows x cols.
/// `why` says where the wanted shape comes from.
template <class T, Space S>
void expect_shape(const char* operation, const char* operand, const Strided<T, S>& v, index_t rows, index_t cols,
                  const char* why, Place where = Place::current()) {
  if (v.rows == rows && v.cols == cols) [[likely]]
    return;
  throw Error(Errc::invalid_argument,
              std::string(operation) + ": " + operand + " is " + std::to_string(v.rows) + " x " +
                  std::to_string(v.cols) + " but must be " + std::to_string(rows) + " x " + std::to_string(cols) +
                  " (" + why + ")",
              where);
}

inline void expect_argument(const char* operation, bool condition, const char* what, Place where = Place::current()) {
  if (!condition) [[unlikely]]
    throw Error(Errc::invalid_argument, std::string(operation) + ": " + what, where);
}

/// Whether two views share an element. Blocks of one parent (equal strides) are told apart exactly, so that
/// neighbouring column blocks of a row-major basis do not count as overlapping; views of different strides
/// count as overlapping as soon as their address ranges meet.
template <class A, class B, Space S>
[[nodiscard]] bool overlap(const Strided<A, S>& a, const Strided<B, S>& b) noexcept {
  if (a.empty() || b.empty()) return false;
  const auto first = [](const auto& v) { return reinterpret_cast<std::uintptr_t>(v.data); };
  const auto end = [first](const auto& v) {
    const index_t last = (v.rows - 1) * v.row_stride + (v.cols - 1) * v.col_stride;
    return first(v) + static_cast<std::uintptr_t>(last + 1) * sizeof(*v.data);
  };
  if (end(a) <= first(b) || end(b) <= first(a)) return false;
  if (sizeof(A) != sizeof(B) || a.row_stride != b.row_stride || a.col_stride != b.col_stride) return true;

  const auto bytes = static_cast<index_t>(first(b) - first(a));
  if (bytes % static_cast<index_t>(sizeof(A)) != 0) return true;
  const index_t distance = bytes / static_cast<index_t>(sizeof(A));
  const bool rows_apart = a.row_stride >= a.col_stride;  // the larger stride separates lines
  const index_t line = rows_apart ? a.row_stride : a.col_stride;
  const index_t lines_a = rows_apart ? a.rows : a.cols, lines_b = rows_apart ? b.rows : b.cols;
  const index_t width_a = rows_apart ? a.cols : a.rows, width_b = rows_apart ? b.cols : b.rows;
  const auto meet = [&](index_t lines, index_t shift) {  // b starts `lines` lines and `shift` elements later
    return lines < lines_a && -lines < lines_b && shift < width_a && -shift < width_b;
  };
  if (line == 0) return true;
  const index_t down = distance >= 0 ? distance / line : -((-distance + line - 1) / line);
  return meet(down, distance - down * line) || meet(down + 1, distance - (down + 1) * line);
}

template <class A, class B, Space S>
void expect_disjoint(const char* operation, const Strided<A, S>& out, const char* out_name, const Strided<B, S>& in,
                     const char* in_name, Place where = Place::current()) {
  if (overlap(out, in)) [[unlikely]]
    throw Error(Errc::invalid_argument,
                std::string(operation) + ": " + out_name + " overlaps " + in_name + " in memory", where);
}

/// out = beta out, where beta = 0 never reads out: what is left of an operation whose product is empty or
/// whose alpha is zero (BLAS does not read the factors then either).
template <class R>
void scale_output(R beta, const Strided<R>& out) noexcept {
  if (beta == R{1}) return;
  for (index_t i = 0; i < out.rows; ++i)
    for (index_t j = 0; j < out.cols; ++j) out(i, j) = beta == R{} ? R{} : beta * out(i, j);
}

}  // namespace ts::inline v0::detail
