// An order of elimination that keeps factors sparse.
#pragma once

#include <cstdint>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::solvers {

/// The position of each row in the order of elimination, from 0, by nested dissection of the graph of A + A^T (METIS,
/// Karypis and Kumar 1998), the same in every run. Empty where METIS is not there, and for small or very large
/// matrices.
/// @param pointers, indices of A in CSR
[[nodiscard]] std::vector<int> nested_dissection(index_t n, const index_t* pointers, const std::int32_t* indices);

}  // namespace ts::solvers
