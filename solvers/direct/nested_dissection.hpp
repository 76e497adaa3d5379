// What METIS makes of the graph of a matrix: an order of elimination that keeps factors sparse, and parts with few
// edges between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::solvers {

/// The position of each row in the order of elimination, from 0, by nested dissection of the graph of A + A^T (METIS,
/// Karypis and Kumar 1998), the same in every run. Empty where METIS is not there, and for small or very large
/// matrices.
/// @param pointers, indices of A in CSR
[[nodiscard]] std::vector<int> nested_dissection(index_t n, const index_t* pointers, const std::int32_t* indices);

/// The part of each row, from 0, of parts that have about `sizes` rows each and few entries of A + A^T in columns of
/// other parts, by recursive bisection (METIS, Karypis and Kumar 1998): parts of near numbers are near each other. The
/// same in every run. Empty where METIS is not there, and for small or very large matrices.
[[nodiscard]] std::vector<int> parts_of_rows(index_t n, const index_t* pointers, const std::int32_t* indices,
                                             std::span<const index_t> sizes);

}  // namespace ts::inline v0::solvers
