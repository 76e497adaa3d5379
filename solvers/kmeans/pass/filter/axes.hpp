// Axes along which all coordinates vary about alike, and what makes those on a device orthonormal.
#pragma once

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0::assign_detail {

/// The m x m matrix that turns m axes into others of the same space along which all coordinates vary about alike, so
/// that one scale serves a whole row: the discrete Hartley transform (cos + sin of 2 pi j a / m) of axes with random
/// signs.
[[nodiscard]] Matrix<double> mix_of_axes(index_t m);

}  // namespace ts::inline v0::assign_detail

namespace ts::inline v0 {

/// Replaces a Gram matrix G = R^T R, of as many columns as heads have at most, by R^-1. Returns false, with G as it
/// was, where a pivot is not above `dead` times the diagonal element that it was.
[[nodiscard]] bool inverse_factor(const Context& ctx, const DeviceMatrix<double>& gram, double dead);

}  // namespace ts::inline v0
