// Distributes the rows of a sparse matrix over ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/row_slabs.hpp"

namespace ts::inline v0::solvers {

/// Entries of each unit of `unit` rows.
/// @param pointers rows + 1 row pointers.
/// @param unit row_unit() of all rows, of which these may be a slab of whole units.
[[nodiscard]] std::vector<index_t> entries_of_units(std::span<const index_t> pointers, index_t unit);

/// Entries of the slab that has most. @param entries of each unit of row_unit(slabs.rows()) rows.
[[nodiscard]] index_t most_entries(const RowSlabs& slabs, std::span<const index_t> entries);

/// `rows` rows in `slabs` slabs of whole units, so that the largest slab has as few entries as it can; where several
/// cuts do, those whose slabs are most alike (by the sum of squares).
/// @param entries of each unit of row_unit(rows) rows.
/// @throws Error(invalid_argument) for another number of units, negative entries or no slab.
[[nodiscard]] RowSlabs balanced_slabs(index_t rows, std::span<const index_t> entries, int slabs);

/// Balanced slabs where the largest of them has a tenth less entries than that of `slabs`, nothing otherwise.
[[nodiscard]] std::optional<RowSlabs> fairer_slabs(const RowSlabs& slabs, std::span<const index_t> entries);

}  // namespace ts::inline v0::solvers
