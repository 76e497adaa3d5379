// Rows in device memory as kernels are told of them.
#pragma once

#include <span>

#include "tallskinny/gemm/runtime/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"

namespace ts::inline v0::assign_device {

[[nodiscard]] inline cuda::RowsArgument argument_of(const Rows& x) noexcept {
  return {x.values(), x.rows(), x.row_stride(), x.col_stride(), x.scales()};
}

/// Memory for so many T, in the order of the context's stream; and such memory as T.
template <class T>
[[nodiscard]] cuda::Memory array(const Context& ctx, index_t count) {
  return {ctx.stream, static_cast<std::size_t>(count) * sizeof(T)};
}
template <class T>
[[nodiscard]] T* as(const cuda::Memory& memory) {
  return static_cast<T*>(memory.data());
}

}  // namespace ts::inline v0::assign_device
