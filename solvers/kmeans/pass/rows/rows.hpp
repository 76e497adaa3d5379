// The rows that are assigned to centroids: a dense or sparse matrix of real numbers, its element type a value
// and not a template argument, because every pass widens a row before it computes.
#pragma once

#include <span>
#include <utility>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/gpu/stream.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/per_row.hpp"

namespace ts::inline v0 {

/// A view of n rows (points) with d columns (features), as numbers in float64: value(i, j) = x(i, j), or
/// x(i, j) * row_scale[i] rounded to float64 when scales are set. Owns nothing.
class Rows {
 public:
  /// T: any real element type, constant or not, in either layout.
  template <class T, Layout L>
  Rows(const MatrixView<T, Space::host, L>& x) noexcept
      : values_(x.data()),
        type_(dtype_of<std::remove_const_t<T>>),
        rows_(x.rows()),
        cols_(x.cols()),
        row_stride_(x.row_stride()),
        col_stride_(x.col_stride()) {
    static_assert(!is_complex<std::remove_const_t<T>>, "points have real coordinates");
  }
  /// Dense rows in the memory of a stream's device: operations on them run there.
  template <class T, Layout L>
  Rows(const cuda::Stream& stream, const MatrixView<T, Space::device, L>& x)
      : Rows(HostView<const std::remove_const_t<T>, L>::unchecked(x.data(), x.rows(), x.cols(), x.ld())) {
    expects(static_cast<bool>(stream), "rows on a device need its stream");
    stream_ = stream;
  }
  /// T: double or float. Column numbers must be sorted and free of duplicates within each row.
  template <class T>
  Rows(const CsrView<T>& x) noexcept
      : values_(x.values),
        type_(dtype_of<T>),
        rows_(x.rows),
        cols_(x.cols),
        pointers_(x.pointers),
        indices_(x.indices) {
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>, "sparse points are double or float");
  }

  /// These rows with row i multiplied by scale[i] (n numbers that must outlive this view, or none).
  [[nodiscard]] Rows scaled(PerRow<const double> scale) const {
    expects(scale.empty() || (scale.size == rows_ && scale.space == space()),
            "scaled rows need one scale for each row, in the same memory");
    Rows r = *this;
    r.scale_ = scale.empty() ? nullptr : scale.data;
    return r;
  }

  /// The count rows from row i on.
  [[nodiscard]] Rows block(index_t i, index_t count) const {
    expects(i >= 0 && count >= 0 && i + count <= rows_, "a block of rows reaches outside");
    Rows r = *this;
    r.rows_ = count;
    if (sparse())
      r.pointers_ += i;
    else
      r.values_ = static_cast<const char*>(values_) + i * row_stride_ * static_cast<index_t>(size_of(type_));
    if (scale_ != nullptr) r.scale_ += i;
    return r;
  }

  /// These rows, read through another stream of their device; rows in host memory are unchanged.
  [[nodiscard]] Rows on(const cuda::Stream& stream) const {
    Rows r = *this;
    if (on_device()) r.stream_ = stream;
    return r;
  }

  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  [[nodiscard]] DType type() const noexcept { return type_; }
  [[nodiscard]] bool sparse() const noexcept { return pointers_ != nullptr; }
  [[nodiscard]] Space space() const noexcept { return stream_ ? Space::device : Space::host; }
  [[nodiscard]] bool on_device() const noexcept { return space() == Space::device; }
  [[nodiscard]] const void* values() const noexcept { return values_; }
  [[nodiscard]] index_t row_stride() const noexcept { return row_stride_; }
  [[nodiscard]] index_t col_stride() const noexcept { return col_stride_; }
  [[nodiscard]] const index_t* pointers() const noexcept { return pointers_; }
  [[nodiscard]] const std::int32_t* indices() const noexcept { return indices_; }
  [[nodiscard]] double scale(index_t i) const noexcept { return scale_ == nullptr ? 1.0 : scale_[i]; }
  [[nodiscard]] bool has_scale() const noexcept { return scale_ != nullptr; }
  [[nodiscard]] const double* scales() const noexcept { return scale_; }
  /// Entries of row i: cols() of a dense row.
  [[nodiscard]] index_t entries(index_t i) const noexcept { return sparse() ? pointers_[i + 1] - pointers_[i] : cols_; }

  /// Row i of a dense or sparse view as cols() numbers; from a device it is fetched.
  void load(index_t i, double* out) const;
  // The following are for rows in host memory only.
  /// The stored entries of row i: entries(i) values in float64, with row scales; a sparse row's columns are
  /// indices()[pointers()[i] ...].
  void load_entries(index_t i, double* out) const noexcept;
  /// The first element that is NaN or infinite, row by row, as (row, column); (-1, -1) if there is none.
  [[nodiscard]] std::pair<index_t, index_t> first_not_finite(index_t row_begin, index_t row_end) const noexcept;

 private:
  const void* values_ = nullptr;
  DType type_ = DType::float64;
  index_t rows_ = 0, cols_ = 0, row_stride_ = 0, col_stride_ = 0;
  const index_t* pointers_ = nullptr;
  const std::int32_t* indices_ = nullptr;
  const double* scale_ = nullptr;
  cuda::Stream stream_;  // of rows on a device
};

}  // namespace ts::inline v0

namespace ts::inline v0::cuda {

/// Layout of rows in memory, as far as kernels depend on it.
struct RowsForm {
  DType type = DType::float32;
  index_t n = 0, d = 0;
  bool plain = true;   ///< elements of a row lie side by side, without scales
  int alignment = 16;  ///< the power of two that divides the addresses of rows
  bool packed = true;  ///< nothing lies between rows
};
[[nodiscard]] RowsForm rows_form(const Rows& x);

}  // namespace ts::inline v0::cuda
