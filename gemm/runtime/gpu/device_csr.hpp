// Sparse matrices in device memory.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/kept.hpp"
#include "tallskinny/gemm/runtime/gpu/long_copy.hpp"

namespace ts::inline v0 {

namespace cuda {

/// The parts of a matrix, in host memory.
struct CutRows {
  std::vector<index_t> cuts;
  std::vector<SplitRow> splits;
  index_t long_splits = 0;
};
[[nodiscard]] CutRows cut_rows(const index_t* pointers, index_t rows);

/// All facts but `scattered` of a matrix that is cut so.
[[nodiscard]] SparseFacts facts_of_rows(const index_t* pointers, index_t rows, const CutRows& cut);

/// Columns that a sample of a matrix meets: up to 32 blocks of 256 rows, of each row at most 64 entries.
class ColumnSample {
 public:
  /// SparseFacts::scattered of a matrix with so many rows, of which `row(i, add)` calls add(column) for each entry of
  /// row i.
  template <class Row>
  [[nodiscard]] static int scattered(index_t rows, Row&& row) {
    constexpr index_t blocks = 32, block = 256, of_row = 64, group = 8;
    ColumnSample sample;
    const index_t step = std::max(block, rows / blocks);
    for (index_t first = 0; first < rows; first += step, sample.end_block())
      for (index_t i = first; i < std::min(rows, first + block); ++i) {
        index_t left = of_row;
        row(i, [&](index_t column) {
          if (left-- > 0) sample.groups_.push_back(column / group);
        });
      }
    return sample.entries_ == 0 ? 0 : static_cast<int>(100 * sample.distinct_ / sample.entries_);
  }

 private:
  void end_block();
  std::vector<index_t> groups_;
  double entries_ = 0, distinct_ = 0;
};

/// The parts of a matrix in device memory.
class DeviceParts {
 public:
  DeviceParts() = default;
  /// `cut` must stay as it is until the stream has been synchronised.
  DeviceParts(const Stream& stream, const CutRows& cut)
      : cuts_(stream, cut.cuts.size() * sizeof(index_t)),
        splits_(stream, cut.splits.size() * sizeof(SplitRow)),
        view_{static_cast<const index_t*>(cuts_.data()), static_cast<index_t>(cut.cuts.size()) - 1,
              static_cast<const SplitRow*>(splits_.data()), static_cast<index_t>(cut.splits.size()), cut.long_splits} {
    copy_bytes(stream, cuts_.data(), cut.cuts.data(), cuts_.bytes());
    copy_bytes(stream, splits_.data(), cut.splits.data(), splits_.bytes());
  }
  [[nodiscard]] const CsrParts& view() const noexcept { return view_; }

 private:
  Memory cuts_, splits_;
  CsrParts view_;
};

}  // namespace cuda

/// A sparse matrix that owns its memory on the device of a stream; move-only. Beside the entries it keeps where its
/// parts are cut (at most 32 bytes for every 224 rows and entries).
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
    const cuda::CutRows cut = cuda::cut_rows(a.pointers, a.rows);
    parts_ = cuda::DeviceParts(stream, cut);
    facts_ = cuda::facts_of_rows(a.pointers, a.rows, cut);
    facts_.scattered = cuda::ColumnSample::scattered(a.rows, [&](index_t i, auto&& add) {
      for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) add(static_cast<index_t>(a.indices[e]));
    });
    cuda::upload(stream, pointers_.data(), a.pointers, pointers_.bytes());
    cuda::upload(stream, indices_.data(), a.indices, indices_.bytes());
    cuda::upload(stream, values_.data(), a.values, values_.bytes());
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
            parts_.view(),
            facts_,
            transposed_ == nullptr ? nullptr : &transposed_->view,
            kept_.get()};
  }

 private:
  struct Transposed;
  index_t rows_ = 0, cols_ = 0, stored_ = 0;
  cuda::Memory pointers_, indices_, values_;
  cuda::DeviceParts parts_;
  SparseFacts facts_;
  std::unique_ptr<Transposed> transposed_;
  std::unique_ptr<cuda::Kept> kept_ = std::make_unique<cuda::Kept>();
};

template <class T, class I>
struct DeviceCsrMatrix<T, I>::Transposed {
  Transposed(const cuda::Stream& stream, CsrView<T, Space::host, I> a) : matrix(stream, a), view(matrix.view()) {}
  DeviceCsrMatrix matrix;
  CsrView<T, Space::device, I> view;
};

}  // namespace ts::inline v0
