// Owners of dense matrices in host memory.
#pragma once

#include <algorithm>
#include <utility>

#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0 {

/// A rows x cols matrix that owns its memory, contiguous (ld = cols or rows), move-only.
/// Elements are not initialised: `Matrix(n, s)` costs no pass over memory; `Matrix::zeros(n, s)` does.
template <class T, Space S = Space::host, Layout L = Layout::row_major>
requires(S == Space::host && std::is_trivially_copyable_v<T>) class Matrix {
 public:
  using value_type = T;
  using View = MatrixView<T, S, L>;
  using ConstView = MatrixView<const T, S, L>;

  Matrix() = default;
  /// @param from where its memory comes from, which outlives it; null: host_memory()
  /// @throws Error(invalid_argument) for negative sizes, Error(out_of_memory).
  Matrix(index_t rows, index_t cols, std::pmr::memory_resource* from = nullptr) : rows_(rows), cols_(cols) {
    expects(rows >= 0 && cols >= 0, "a matrix needs non-negative rows and columns");
    expects(cols == 0 || rows <= INT64_MAX / static_cast<index_t>(sizeof(T)) / cols,
            "a matrix of this many rows and columns has more than 2^63 bytes");
    memory_ = HostMemory(static_cast<std::size_t>(rows * cols) * sizeof(T), from);
  }
  [[nodiscard]] static Matrix zeros(index_t rows, index_t cols) {
    Matrix m(rows, cols);
    std::fill_n(m.data(), rows * cols, T{});
    return m;
  }
  /// An owned, contiguous copy of any host view of the same element type.
  template <Layout LV>
  [[nodiscard]] static Matrix copy_of(MatrixView<const T, S, LV> v) {
    Matrix m(v.rows(), v.cols());
    const auto out = m.view();
    if constexpr (L == Layout::row_major) {
      for (index_t i = 0; i < v.rows(); ++i)
        for (index_t j = 0; j < v.cols(); ++j) out(i, j) = v(i, j);
    } else {
      for (index_t j = 0; j < v.cols(); ++j)
        for (index_t i = 0; i < v.rows(); ++i) out(i, j) = v(i, j);
    }
    return m;
  }
  template <Layout LV>
  [[nodiscard]] static Matrix copy_of(MatrixView<T, S, LV> v) {
    return copy_of(MatrixView<const T, S, LV>(v));
  }

  [[nodiscard]] T* data() noexcept { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(memory_.data()); }
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  [[nodiscard]] index_t ld() const noexcept { return L == Layout::row_major ? cols_ : rows_; }
  [[nodiscard]] bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }

  [[nodiscard]] View view() noexcept { return View::unchecked(data(), rows_, cols_, ld()); }
  [[nodiscard]] ConstView view() const noexcept { return ConstView::unchecked(data(), rows_, cols_, ld()); }
  [[nodiscard]] ConstView cview() const noexcept { return view(); }

  T& operator()(index_t i, index_t j) noexcept { return view()(i, j); }
  const T& operator()(index_t i, index_t j) const noexcept { return view()(i, j); }

 private:
  HostMemory memory_;
  index_t rows_ = 0, cols_ = 0;
};

}  // namespace ts::inline v0
