// What makes the columns of a matrix on a device orthonormal.
#pragma once

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0 {

/// Whether inverse_factor() serves Gram matrices of so many columns.
[[nodiscard]] bool inverse_factor_serves(const Context& ctx, index_t columns);
/// Of a Gram matrix G = R^T R, which becomes R^-1. Returns false, with G as it was, where a pivot is not above `dead`
/// times the diagonal element that it was.
[[nodiscard]] bool inverse_factor(const Context& ctx, const DeviceMatrix<double>& gram, double dead);

}  // namespace ts::inline v0
