// Axes along which all coordinates vary about alike. Internal to the room.
#pragma once

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::assign_detail {

/// The same space along axes in which all coordinates vary about alike, so that one scale serves all columns of a row:
/// the discrete Hartley transform of axes with random signs, each taken times cos + sin of 2 pi j a / m.
[[nodiscard]] Matrix<double> mixed_axes(const Context& ctx, HostView<const double> axes);
/// By what m axes are multiplied.
[[nodiscard]] Matrix<double> mix_of_axes(index_t m);

}  // namespace ts::inline v0::assign_detail
