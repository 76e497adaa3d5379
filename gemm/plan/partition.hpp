// How rows are cut. Pure functions of the shape alone, shared by the planner and the kernels: partial sums
// belong to these chunks, so their bits depend neither on threads nor on the processor.
#pragma once

#include <algorithm>

#include "tallskinny/gemm/plan/problem.hpp"

namespace ts {

namespace detail {
constexpr index_t power_of_two_at_least(index_t x) noexcept {
  index_t p = 1;
  while (p < x) p *= 2;
  return p;
}
}  // namespace detail

/// Bytes of one row of everything an operation streams through.
[[nodiscard]] constexpr index_t row_bytes(Operation op, DType t, index_t p, index_t q) noexcept {
  const auto s = static_cast<index_t>(size_of(t));
  switch (op) {
    case Operation::gram:
    case Operation::column_norms:
    case Operation::trsm:
    case Operation::tsm2r:
      return p * s;
    default:
      return (p + q) * s;
  }
}

/// Rows per chunk: about 128 KiB of operands (half an L2 share, a few microseconds of work), but for
/// reductions not fewer than 16 times the narrower width, so that adding up the p x q partial sums stays
/// below a few per cent of the work.
[[nodiscard]] constexpr index_t chunk_rows_of(Operation op, DType t, index_t p, index_t q) noexcept {
  const index_t by_bytes = (index_t{128} << 10) / std::max<index_t>(1, row_bytes(op, t, p, q));
  const bool reduces = op == Operation::tsmttsm || op == Operation::gram || op == Operation::inner_and_gram ||
                       op == Operation::project_out || op == Operation::column_norms;
  const index_t least = reduces ? 16 * std::min(p, op == Operation::gram ? p : q) : 16;
  return detail::power_of_two_at_least(std::clamp<index_t>(std::max(by_bytes, least), 64, 65536));
}

}  // namespace ts
