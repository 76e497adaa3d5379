// How well two labellings of the same rows agree.
#pragma once

#include <span>

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::solvers {

/// The adjusted Rand index, whatever the numbers of the labels: 1 for the same clusters, about 0 for labels by chance.
/// Of several ranks each passes its rows, and all get the index of all rows. Source: Hubert and Arabie 1985.
/// @param labels, known for each row a number from 0 on, below `clusters` and `classes`, which all ranks agree on
[[nodiscard]] double adjusted_rand_index(const Context& ctx, std::span<const std::int32_t> labels,
                                         std::span<const std::int32_t> known, index_t clusters, index_t classes);

}  // namespace ts::inline v0::solvers
