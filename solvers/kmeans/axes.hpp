// The axes along which rows differ most. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Orthonormal directions (d x m, m <= most) in which the rows here vary most, by falling variance: about the leading
/// eigenvectors of the Gram matrix of a sample, by two steps of subspace iteration from a random block (Halko,
/// Martinsson, Tropp 2011, algorithm 4.4). Fewer than `most` where the sample has no more dimensions.
[[nodiscard]] Matrix<double> leading_axes(const KMeansProblem& problem, index_t most);

}  // namespace ts::inline v0::solvers::kmeans_detail
