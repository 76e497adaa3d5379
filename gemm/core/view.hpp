// Views of dense matrices: pointer, shape and leading dimension as values; element type, memory space and
// layout in the type, so that a device view cannot reach a host operation and a layout is never guessed.
#pragma once

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// Where elements are: in host memory, or in that of the GPU of a stream.
enum class Space { host, device };
enum class Layout { row_major, col_major };

/// A rows x cols matrix in somebody else's memory; copied freely, owns nothing.
/// Element (i, j) stands at data[i * ld + j] (row_major) or data[j * ld + i] (col_major).
template <class T, Space S = Space::host, Layout L = Layout::row_major>
class MatrixView {
 public:
  using value_type = std::remove_const_t<T>;
  static constexpr Space space = S;
  static constexpr Layout layout = L;
  static constexpr bool row_major = L == Layout::row_major;

  constexpr MatrixView() noexcept = default;

  /// @throws Error(invalid_argument) for negative sizes, an ld shorter than a row (row_major) or a column
  /// (col_major), or a null pointer with elements behind it.
  constexpr MatrixView(T* data, index_t rows, index_t cols, index_t ld)
      : data_(data), rows_(rows), cols_(cols), ld_(ld) {
    expects(rows >= 0 && cols >= 0, "a matrix view has negative rows or columns");
    expects(ld >= (row_major ? cols : rows), "a matrix view's leading dimension is shorter than its rows");
    expects(data != nullptr || rows == 0 || cols == 0, "a matrix view has elements but a null pointer");
  }
  constexpr MatrixView(T* data, index_t rows, index_t cols) : MatrixView(data, rows, cols, row_major ? cols : rows) {}

  /// A view of mutable elements serves where a view of constant ones is asked for.
  constexpr operator MatrixView<const T, S, L>() const noexcept requires(!std::is_const_v<T>) {
    return MatrixView<const T, S, L>::unchecked(data_, rows_, cols_, ld_);
  }
  [[nodiscard]] static constexpr MatrixView unchecked(T* data, index_t rows, index_t cols, index_t ld) noexcept {
    MatrixView v;
    v.data_ = data, v.rows_ = rows, v.cols_ = cols, v.ld_ = ld;
    return v;
  }

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr index_t rows() const noexcept { return rows_; }
  [[nodiscard]] constexpr index_t cols() const noexcept { return cols_; }
  [[nodiscard]] constexpr index_t ld() const noexcept { return ld_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }
  /// Distance between (i, j) and (i + 1, j), and between (i, j) and (i, j + 1), in elements.
  [[nodiscard]] constexpr index_t row_stride() const noexcept { return row_major ? ld_ : 1; }
  [[nodiscard]] constexpr index_t col_stride() const noexcept { return row_major ? 1 : ld_; }

  [[nodiscard]] constexpr T& operator()(index_t i, index_t j) const noexcept requires(S == Space::host) {
    return data_[i * row_stride() + j * col_stride()];
  }

  /// The count x width block whose upper left element is (i, j).
  [[nodiscard]] constexpr MatrixView block(index_t i, index_t j, index_t count, index_t width) const {
    expects(i >= 0 && count >= 0 && i + count <= rows_ && j >= 0 && width >= 0 && j + width <= cols_,
            "a block reaches outside its matrix view");
    if (data_ == nullptr) return unchecked(nullptr, count, width, ld_);  // empty: no offset from null
    return unchecked(data_ + i * row_stride() + j * col_stride(), count, width, ld_);
  }
  [[nodiscard]] constexpr MatrixView cols(index_t j, index_t width) const { return block(0, j, rows_, width); }
  [[nodiscard]] constexpr MatrixView rows(index_t i, index_t count) const { return block(i, 0, count, cols_); }

  /// The same memory read as the transposed matrix: the other layout, rows and columns swapped.
  [[nodiscard]] constexpr auto transposed() const noexcept {
    return MatrixView < T, S, row_major ? Layout::col_major : Layout::row_major > ::unchecked(data_, cols_, rows_, ld_);
  }

 private:
  T* data_ = nullptr;
  index_t rows_ = 0, cols_ = 0, ld_ = 0;
};

/// Views in either memory.
template <class T, Layout L = Layout::row_major>
using HostView = MatrixView<T, Space::host, L>;
template <class T, Layout L = Layout::row_major>
using DeviceView = MatrixView<T, Space::device, L>;

/// The same memory as real numbers: n x b, or of a complex matrix n x 2 b with real and imaginary parts side
/// by side.
template <class T, Space S>
[[nodiscard]] auto as_reals(MatrixView<T, S, Layout::row_major> x) noexcept {
  using Element = std::remove_const_t<T>;
  using R = std::conditional_t<std::is_const_v<T>, const real_t<Element>, real_t<Element>>;
  constexpr index_t parts = is_complex<Element> ? 2 : 1;
  return MatrixView<R, S>::unchecked(reinterpret_cast<R*>(x.data()), x.rows(), parts * x.cols(), parts * x.ld());
}

/// Any dense view in host memory: what a host operation accepts.
template <class V>
concept HostMatrix = requires(V v) {
  []<class T, Layout L>(const MatrixView<T, Space::host, L>&) {}(v);
};

/// Any dense view in device memory: what an operation on the GPU of Context::stream accepts.
template <class V>
concept DeviceOperand = requires(V v) {
  []<class T, Layout L>(const MatrixView<T, Space::device, L>&) {}(v);
};

/// A view with its layout as two strides: the one form in which compiled code takes operands, so that
/// four layouts of an operation share one instantiation.
template <class T, Space S = Space::host>
struct Strided {
  T* data = nullptr;
  index_t rows = 0, cols = 0;
  index_t row_stride = 0, col_stride = 0;

  constexpr Strided() noexcept = default;
  constexpr Strided(T* first, index_t row_count, index_t col_count, index_t from_row, index_t from_col) noexcept
      : data(first), rows(row_count), cols(col_count), row_stride(from_row), col_stride(from_col) {}
  template <Layout L>
  constexpr Strided(const MatrixView<std::remove_const_t<T>, S, L>& v) noexcept
      : data(v.data()), rows(v.rows()), cols(v.cols()), row_stride(v.row_stride()), col_stride(v.col_stride()) {}
  template <Layout L>
  constexpr Strided(const MatrixView<const T, S, L>& v) noexcept requires std::is_const_v<T>
      : data(v.data()), rows(v.rows()), cols(v.cols()), row_stride(v.row_stride()), col_stride(v.col_stride()) {}

  /// A view of mutable elements serves where a view of constant ones is asked for.
  constexpr operator Strided<const T, S>() const noexcept requires(!std::is_const_v<T>) {
    return Strided<const T, S>(data, rows, cols, row_stride, col_stride);
  }

  [[nodiscard]] constexpr T& operator()(index_t i, index_t j) const noexcept requires(S == Space::host) {
    return data[i * row_stride + j * col_stride];
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return rows == 0 || cols == 0; }
  [[nodiscard]] constexpr Strided transposed() const noexcept {
    return Strided(data, cols, rows, col_stride, row_stride);
  }
  /// The count x width block whose upper left element is (i, j), which must lie inside.
  [[nodiscard]] constexpr Strided block(index_t i, index_t j, index_t count, index_t width) const noexcept {
    T* const corner = data == nullptr ? data : data + i * row_stride + j * col_stride;
    return Strided(corner, count, width, row_stride, col_stride);
  }
};

/// The same in device memory.
template <class T>
using DeviceStrided = Strided<T, Space::device>;

}  // namespace ts::inline v0
