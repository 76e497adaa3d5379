// Sparse matrices in device memory.
#pragma once

#include <memory>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/long_copy.hpp"

namespace ts {

namespace cuda {

/// Rows of more entries than this are summed in parts of at most `long_row_part`, each by a block of its own.
inline constexpr index_t longest_short_row = 512, long_row_part = 4096;

/// The parts of all long rows, row by row.
[[nodiscard]] std::vector<LongRowPart> long_row_parts(const index_t* pointers, index_t rows);

}  // namespace cuda

/// A sparse matrix that owns its memory on the device of a stream; move-only. Beside the entries it keeps the
/// parts of its long rows (48 bytes for every 4096 entries of them).
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
    const auto parts = cuda::long_row_parts(a.pointers, a.rows);
    long_part_count_ = static_cast<index_t>(parts.size());
    long_parts_ = cuda::Memory(stream, parts.size() * sizeof(LongRowPart));
    cuda::upload(stream, pointers_.data(), a.pointers, pointers_.bytes());
    cuda::upload(stream, indices_.data(), a.indices, indices_.bytes());
    cuda::upload(stream, values_.data(), a.values, values_.bytes());
    cuda::copy_bytes(stream, long_parts_.data(), parts.data(), long_parts_.bytes());
    stream.synchronize();
  }

  /// Keeps A^T beside A, which `spmm` needs for op = transpose and op = adjoint: as much memory again, and
  /// once the work of sorting all entries, on the host. `a` is the matrix that this is a copy of; complete on
  /// return.
  /// @throws Error(out_of_memory), Error(invalid_argument) where I cannot number A's rows.
  void keep_transposed(const cuda::Stream& stream, CsrView<T, Space::host, I> a) {
    if (transposed_ == nullptr) transposed_ = std::make_unique<Transposed>(stream, ts::transposed(a).view());
  }

  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  /// Valid while this matrix lives and is not assigned to.
  [[nodiscard]] CsrView<T, Space::device, I> view() const noexcept {
    return {rows_,
            cols_,
            static_cast<const index_t*>(pointers_.data()),
            static_cast<const I*>(indices_.data()),
            static_cast<const T*>(values_.data()),
            stored_,
            static_cast<const LongRowPart*>(long_parts_.data()),
            long_part_count_,
            transposed_ == nullptr ? nullptr : &transposed_->view};
  }

 private:
  struct Transposed;
  index_t rows_ = 0, cols_ = 0, stored_ = 0, long_part_count_ = 0;
  cuda::Memory pointers_, indices_, values_, long_parts_;
  std::unique_ptr<Transposed> transposed_;
};

template <class T, class I>
struct DeviceCsrMatrix<T, I>::Transposed {
  Transposed(const cuda::Stream& stream, CsrView<T, Space::host, I> a) : matrix(stream, a), view(matrix.view()) {}
  DeviceCsrMatrix matrix;
  CsrView<T, Space::device, I> view;
};

}  // namespace ts
