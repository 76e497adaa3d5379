// Axes along which all coordinates vary about alike, and what makes those on a device orthonormal.
#pragma once

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0::assign_detail {

/// Axes of the space of `axes` along which all coordinates vary about alike, so that one scale serves a whole row:
/// the discrete Hartley transform of axes with random signs, each taken times cos + sin of 2 pi j a / m.
[[nodiscard]] Matrix<double> mixed_axes(const Context& ctx, HostView<const double> axes);
/// The m x m matrix by which mixed_axes() multiplies m axes.
[[nodiscard]] Matrix<double> mix_of_axes(index_t m);

}  // namespace ts::inline v0::assign_detail

namespace ts::inline v0 {

/// True if inverse_factor() serves Gram matrices of so many columns.
[[nodiscard]] bool inverse_factor_serves(const Context& ctx, index_t columns);
/// Replaces a Gram matrix G = R^T R by R^-1. Returns false, with G as it was, where a pivot is not above `dead`
/// times the diagonal element that it was.
[[nodiscard]] bool inverse_factor(const Context& ctx, const DeviceMatrix<double>& gram, double dead);

}  // namespace ts::inline v0
