// Random numbers for every place of a block.
#pragma once

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

/// X = numbers of variance 1 (of both parts, if complex) that are nearly normal, each a pure function of the
/// generator, row and column: near_normal(random, row 2^16 + column), where the parts of a complex number are
/// two columns. Rows count from `first_row` on: where the slab of a rank begins, if rows are distributed. The same
/// bits on every processor and GPU; in float32 those of float64, rounded. T: one of the four result types.
template <class T>
void fill_random(const Context&, const Philox& random, HostView<T> x, index_t first_row = 0);
/// The same on the GPU of ctx.stream; does not wait for the result.
template <class T>
void fill_random(const Context&, const Philox& random, DeviceView<T> x, index_t first_row = 0);

}  // namespace ts::inline v0
