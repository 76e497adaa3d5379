// Rows as units of work: chunks of a fixed length, threads for them, and one number for each row.
#pragma once

#include <algorithm>
#include <string>

#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"

namespace ts::inline v0 {

/// Rows of one unit of work: fixed, so that sums over chunks do not depend on the thread count.
inline constexpr index_t chunk_rows = 4096;

/// Greatest number of rows in one part of a pass on a device, and bytes of each there: lists of rows that are scored
/// again, of pairs of centroids and of moves, and marks.
inline constexpr index_t most_listed_rows = index_t{1} << 27, listed_row_bytes = 25;
/// Bytes of each such row for lists of candidates, with more than 128 columns. And bytes of the products that a library
/// computes in one call, and of the rows in its format.
inline constexpr index_t candidate_bytes = 17, most_product_bytes = 64 << 20;

}  // namespace ts::inline v0

namespace ts::inline v0::assign_detail {

[[nodiscard]] constexpr index_t chunk_count(index_t rows) noexcept { return (rows + chunk_rows - 1) / chunk_rows; }

/// @throws Error(invalid_argument) unless there is one number for each row, in the rows' memory.
template <class T>
void expect_per_row(const Rows& x, PerRow<T> numbers, const char* name) {
  if (numbers.size != x.rows() || (x.rows() > 0 && numbers.space != x.space()))
    throw Error(Errc::invalid_argument, std::string(name) + " must have one entry for each row, in the same memory");
}

/// Threads for `pieces` pieces of work of `products` multiplications each: small problems stay on one, where
/// starting a team would take longer than the work.
[[nodiscard]] inline int team_size(const Context& ctx, index_t pieces, double products) noexcept {
  constexpr double worth_a_thread = 1 << 20;
  const double deserved = 1 + static_cast<double>(pieces) * products / worth_a_thread;
  const double most = static_cast<double>(std::min<index_t>(pieces, ctx.thread_count()));
  return static_cast<int>(std::max(1.0, std::min(deserved, most)));
}

}  // namespace ts::inline v0::assign_detail
