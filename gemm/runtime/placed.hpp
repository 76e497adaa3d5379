// Matrices of an algorithm that is written once for the processor and for a GPU: where they are is a value,
// not a type.
#pragma once

#include <utility>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/long_copy.hpp"

namespace ts::inline v0 {

/// A row-major view in host memory or on the device of a Context's stream. Views of either space become one.
template <class T>
class PlacedView {
 public:
  using value_type = std::remove_const_t<T>;

  constexpr PlacedView() noexcept = default;
  template <Space S>
  constexpr PlacedView(MatrixView<T, S> v) noexcept
      : view_(MatrixView<T>::unchecked(v.data(), v.rows(), v.cols(), v.ld())), space_(S) {}
  template <Space S>
  constexpr PlacedView(MatrixView<value_type, S> v) noexcept requires std::is_const_v<T>
      : PlacedView(MatrixView<T, S>(v)) {}
  constexpr operator PlacedView<const T>() const noexcept requires(!std::is_const_v<T>) {
    if (space_ == Space::host) return in_host();
    return MatrixView<const T, Space::device>::unchecked(data(), rows(), cols(), ld());
  }

  [[nodiscard]] constexpr Space space() const noexcept { return space_; }
  [[nodiscard]] constexpr T* data() const noexcept { return view_.data(); }
  [[nodiscard]] constexpr index_t rows() const noexcept { return view_.rows(); }
  [[nodiscard]] constexpr index_t cols() const noexcept { return view_.cols(); }
  [[nodiscard]] constexpr index_t ld() const noexcept { return view_.ld(); }
  [[nodiscard]] constexpr bool empty() const noexcept { return view_.empty(); }
  /// Columns j .. j + width - 1.
  [[nodiscard]] constexpr PlacedView cols(index_t j, index_t width) const {
    return PlacedView(view_.cols(j, width), space_);
  }

  /// The view with its space in the type. @throws Error(invalid_argument) where the matrix is elsewhere.
  template <Space S>
  [[nodiscard]] constexpr MatrixView<T, S> in() const {
    expects(S == space_ || data() == nullptr, S == Space::host
                                                  ? "a matrix on a device is used where one in host memory is needed"
                                                  : "a matrix in host memory is used where one on a device is needed");
    return MatrixView<T, S>::unchecked(data(), rows(), cols(), ld());
  }
  [[nodiscard]] constexpr HostView<T> host() const { return in<Space::host>(); }

 private:
  constexpr PlacedView(MatrixView<T> view, Space space) noexcept : view_(view), space_(space) {}
  [[nodiscard]] constexpr HostView<T> in_host() const noexcept { return view_; }

  MatrixView<T> view_;  ///< its pointer is read on the host only where space_ says so
  Space space_ = Space::host;
};

/// A rows x cols matrix that owns its memory, contiguous, move-only, not initialised.
template <class T>
class PlacedMatrix {
 public:
  using value_type = T;

  PlacedMatrix() = default;
  /// @throws Error(invalid_argument) for negative sizes, Error(no_device) for a device where ctx has none,
  /// Error(out_of_memory).
  PlacedMatrix(const Context& ctx, Space space, index_t rows, index_t cols) : space_(space) {
    if (space == Space::host)
      here_ = Matrix<T>(rows, cols, ctx.host_memory);
    else
      there_ = DeviceMatrix<T>(ctx.stream, rows, cols);
  }
  PlacedMatrix(Matrix<T> in_host_memory) : here_(std::move(in_host_memory)) {}

  [[nodiscard]] PlacedView<T> view() noexcept {
    return space_ == Space::host ? PlacedView<T>(here_.view()) : PlacedView<T>(there_.view());
  }
  [[nodiscard]] PlacedView<const T> view() const noexcept {
    return space_ == Space::host ? PlacedView<const T>(here_.view()) : PlacedView<const T>(there_.view());
  }
  [[nodiscard]] PlacedView<const T> cview() const noexcept { return view(); }
  [[nodiscard]] Space space() const noexcept { return space_; }
  [[nodiscard]] index_t rows() const noexcept { return view().rows(); }
  [[nodiscard]] index_t cols() const noexcept { return view().cols(); }

  /// The matrix in host memory: itself if it is there, else a copy.
  [[nodiscard]] Matrix<T> to_host(const Context& ctx) && {
    if (space_ == Space::host) return std::move(here_);
    Matrix<T> copied(rows(), cols(), ctx.host_memory);
    cuda::download(ctx.stream, copied.data(), there_.data(), static_cast<std::size_t>(rows() * cols()) * sizeof(T));
    return copied;
  }
  /// The matrix on the device of ctx.stream: itself if it is there, else a copy, complete when this returns.
  /// @throws Error(no_device) where ctx has none, Error(out_of_memory).
  [[nodiscard]] DeviceMatrix<T> to_device(const Context& ctx) && {
    if (space_ == Space::device) return std::move(there_);
    DeviceMatrix<T> copied(ctx.stream, rows(), cols());
    cuda::upload(ctx.stream, copied.data(), here_.data(), static_cast<std::size_t>(rows() * cols()) * sizeof(T));
    return copied;
  }

 private:
  Matrix<T> here_;
  DeviceMatrix<T> there_;  ///< one of the two is empty
  Space space_ = Space::host;
};

/// f(X, Y) in host memory, for what knows no other: X goes there and Y comes back if they are on a device.
template <class T, class F>
void on_host(const Context& ctx, PlacedView<const T> x, PlacedView<T> y, const F& f) {
  if (y.space() == Space::host) return f(x.host(), y.host());
  Matrix<T> here(x.rows(), x.cols(), ctx.host_memory), result(y.rows(), y.cols(), ctx.host_memory);
  copy(ctx.stream, here.view(), x.template in<Space::device>());
  ctx.stream.synchronize();
  f(here.cview(), result.view());
  copy(ctx.stream, y.template in<Space::device>(), result.cview());
  ctx.stream.synchronize();
}

}  // namespace ts::inline v0
