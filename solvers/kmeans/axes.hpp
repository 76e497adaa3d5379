// The axes along which rows differ most. Internal to the room.
#pragma once

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// A basis of about the space of the leading eigenvectors of the Gram matrix of a sample of rows on a device, which
/// multiplies there: three steps of subspace iteration from random signs (Halko, Martinsson, Tropp 2011, algorithm
/// 4.3). In no order, d x `columns` unless a sample has fewer dimensions, orthonormal to about 1e-6.
/// @throws Error(out_of_memory).
[[nodiscard]] DeviceMatrix<double> leading_space(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                                 index_t columns);

}  // namespace ts::inline v0::solvers::kmeans_detail
