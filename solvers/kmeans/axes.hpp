// The axes along which rows differ most. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::solvers::kmeans_detail {

/// d x m orthonormal columns, m = min(most, d): leading eigenvectors of the Gram matrix of a sample of rows about their
/// mean, by falling variance. Of several ranks: of the rows here.
[[nodiscard]] Matrix<double> leading_axes(const KMeansProblem& problem, index_t most);

}  // namespace ts::solvers::kmeans_detail
