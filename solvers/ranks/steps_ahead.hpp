// Number of steps that a rank may compute of a recurrence ahead of other ranks, as a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/spmm/steps.hpp"

namespace ts::inline v0::solvers {

/// Rows of which a rank computes several steps Y = alpha (A - shift I) X + beta Y, X and Y changing places, in one pass
/// through its cache, before it hears of other ranks. The other rows follow step by step, each after an exchange. So
/// no row is computed twice, and what ranks send stays as it is (Lacey, Alappat, Lange, Hager, Fehske and Wellein 2025,
/// Cache blocking of distributed-memory parallel matrix power kernels).
struct StepsAhead {
  index_t rows = 0;               ///< of the rank
  std::vector<StepRows> of_step;  ///< each within the one before; one step: nothing is ahead
  [[nodiscard]] index_t count() const noexcept { return std::ssize(of_step); }
  /// Rows that pass from memory for each row of a step: 1 without steps ahead.
  [[nodiscard]] double passes() const noexcept;
  friend bool operator==(const StepsAhead&, const StepsAhead&) = default;
};

/// A line.
[[nodiscard]] std::string to_text(const StepsAhead& ahead);

/// The number of steps with which the fewest rows pass from memory. All rows pass in one pass; each further step passes
/// those that are not ahead. One step where columns lie so far from each other that no row gets ahead.
/// @param inner the square part of a rank's matrix, without rows that have columns of other ranks.
/// @param bound these rows, and those that other ranks read, in any order.
/// @param read rows here that rows with columns of other ranks read.
template <class T>
[[nodiscard]] StepsAhead steps_ahead(const CsrView<T>& inner, std::span<const std::int32_t> bound,
                                     std::span<const std::int32_t> read);

}  // namespace ts::inline v0::solvers
