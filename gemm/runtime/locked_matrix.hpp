// Matrices in page-locked host memory, which the device of a stream reads and writes directly.
#pragma once

#include <utility>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"

namespace ts::inline v0 {

/// A rows x cols matrix that owns its memory, row-major, contiguous, move-only, not initialised.
template <class T>
class LockedMatrix {
 public:
  LockedMatrix() = default;
  /// @throws Error(invalid_argument) for negative sizes, Error(no_device) where ctx has none,
  /// Error(out_of_memory).
  LockedMatrix(const Context& ctx, index_t rows, index_t cols) : rows_(rows), cols_(cols) {
    expects(rows >= 0 && cols >= 0, "a matrix needs non-negative rows and columns");
    expects(cols == 0 || rows <= INT64_MAX / static_cast<index_t>(sizeof(T)) / cols,
            "a matrix of this many rows and columns has more than 2^63 bytes");
    memory_ = cuda::PinnedMemory(ctx.stream, static_cast<std::size_t>(rows * cols) * sizeof(T));
  }
  [[nodiscard]] HostView<T> view() noexcept {
    return HostView<T>::unchecked(static_cast<T*>(memory_.data()), rows_, cols_, cols_);
  }

 private:
  cuda::PinnedMemory memory_;
  index_t rows_ = 0, cols_ = 0;
};

}  // namespace ts::inline v0
