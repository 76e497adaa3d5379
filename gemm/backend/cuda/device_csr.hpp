// Sparse matrices in device memory.
#pragma once

#include "tallskinny/gemm/backend/cuda/device_matrix.hpp"
#include "tallskinny/gemm/core/csr.hpp"

namespace ts {

/// A sparse matrix that owns its memory on the device of a stream; move-only.
template <class T, class I = std::int32_t>
class DeviceCsrMatrix {
 public:
  DeviceCsrMatrix() = default;
  /// A copy of `a`, complete when this returns. @throws Error(out_of_memory).
  DeviceCsrMatrix(const cuda::Stream& stream, CsrView<T, Space::host, I> a)
      : rows_(a.rows),
        cols_(a.cols),
        stored_(a.nonzeros()),
        pointers_(stream, static_cast<std::size_t>(a.rows + 1) * sizeof(index_t)),
        indices_(stream, static_cast<std::size_t>(stored_) * sizeof(I)),
        values_(stream, static_cast<std::size_t>(stored_) * sizeof(T)) {
    if (a.rows == 0) return;
    cuda::copy_bytes(stream, pointers_.data(), a.pointers, pointers_.bytes());
    cuda::copy_bytes(stream, indices_.data(), a.indices, indices_.bytes());
    cuda::copy_bytes(stream, values_.data(), a.values, values_.bytes());
    stream.synchronize();
  }

  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  [[nodiscard]] CsrView<T, Space::device, I> view() const noexcept {
    return {rows_,
            cols_,
            static_cast<const index_t*>(pointers_.data()),
            static_cast<const I*>(indices_.data()),
            static_cast<const T*>(values_.data()),
            stored_};
  }

 private:
  index_t rows_ = 0, cols_ = 0, stored_ = 0;
  cuda::Memory pointers_, indices_, values_;
};

}  // namespace ts
