// Rows that change ranks, for another order of all rows.
#pragma once

#include <span>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::solvers {

/// The pattern of a square matrix whose rows ctx.slabs distributes: all of it on rank 0, without values, and nothing on
/// the others. All ranks call it together.
template <class T>
[[nodiscard]] CsrMatrix<T> pattern_on_first(const Context& ctx, const CsrView<T>& own);

/// Row and column i of the result are row and column order[i] of the matrix whose rows ctx.slabs distributes; those of
/// this rank by `to`, the columns of a row rising, as reordered() makes them on one rank. All ranks call it together.
/// Memory: on the way 8 bytes and an element for each entry, sent and received.
template <class T>
[[nodiscard]] CsrMatrix<T> reordered_rows(const Context& ctx, const CsrView<T>& own, std::span<const index_t> order,
                                          const RowSlabs& to);

/// Row i of a block of all ranks becomes row place[i]; rows are those of ctx.slabs before and after. All ranks call it
/// together.
template <class T>
[[nodiscard]] Matrix<T> moved_rows(const Context& ctx, HostView<const T> x, std::span<const index_t> place);

}  // namespace ts::inline v0::solvers
