// Copies of tall blocks: from place to place, and in another precision.
#pragma once

#include "tallskinny/gemm/runtime/placed.hpp"

namespace ts::inline v0 {

/// to = from: equal shapes, any places; in parallel over rows on the host. Complete on return if either is
/// there. T: one of the four result types.
template <class T>
void copy_block(const Context&, PlacedView<const T> from, PlacedView<T> to);

/// X with each number the nearest of its new type, where X is. To, From: both real or both complex, of
/// float64 or float32.
template <class To, class From>
[[nodiscard]] PlacedMatrix<To> cast(const Context&, PlacedView<const From> x);

}  // namespace ts::inline v0
