// The axes along which rows differ most. Internal to the room.
#pragma once

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Orthonormal directions (d x m, m <= most) in which the rows here vary most, by falling variance: about the leading
/// eigenvectors of the Gram matrix of a sample, by two steps of subspace iteration from random signs (Halko,
/// Martinsson, Tropp 2011, algorithm 4.3). Fewer than `most` where the sample has no more dimensions.
[[nodiscard]] Matrix<double> leading_axes(const KMeansProblem& problem, index_t most);
/// The same for rows on a device, which multiplies there, in three steps: a basis of about that space, in no order, d x
/// `columns` unless a sample has fewer dimensions, orthonormal to about 1e-6. @throws Error(out_of_memory).
[[nodiscard]] DeviceMatrix<double> leading_space(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                                 index_t columns);
/// The first `count` of such axes.
[[nodiscard]] Matrix<double> leading_columns(HostView<const double> axes, index_t count);

}  // namespace ts::inline v0::solvers::kmeans_detail
