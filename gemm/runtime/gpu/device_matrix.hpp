// Owners of device memory, and copies between host and device.
#pragma once

#include <memory>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::inline v0::cuda {

/// Bytes on one device, aligned to 256, not initialised, from where the stream takes its memory (DeviceAllocator).
/// Move-only. May outlive the stream.
class Memory {
 public:
  Memory() noexcept = default;
  /// @throws Error(out_of_memory) with the number of bytes that could not be had; Error(no_device) for a stream without
  /// a device.
  Memory(const Stream& stream, std::size_t bytes);

  [[nodiscard]] void* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Release {
    std::shared_ptr<const StreamHome> home;  ///< none: of a rehearsal, whose memory is not there
    std::size_t bytes;
    void operator()(void* data) const noexcept;
  };
  std::unique_ptr<void, Release> data_;
  std::size_t bytes_ = 0;
};

/// While one lives, memory that goes back to the stream's driver stays for what the stream asks next: at most an eighth
/// of the device's, and none of it where a DeviceAllocator serves the stream. The driver takes a tenth of a millisecond
/// for each, and waits.
class KeepMemory {
 public:
  explicit KeepMemory(const Stream& stream);
  KeepMemory(const KeepMemory&) = delete;
  KeepMemory& operator=(const KeepMemory&) = delete;
  ~KeepMemory();

 private:
  std::shared_ptr<const StreamHome> home_;
};

/// `bytes` bytes from `from` to `to` in the order of the stream, each in host or device memory. Host memory
/// must stay as it is until the stream has been synchronised.
void copy_bytes(const Stream& stream, void* to, const void* from, std::size_t bytes);
/// The same for `lines` pieces of `line_bytes` that start `to_pitch` and `from_pitch` bytes apart.
void copy_lines(const Stream& stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                std::size_t line_bytes, std::size_t lines);
/// Every byte of [to, to + bytes) becomes `value`.
void fill_bytes(const Stream& stream, void* to, unsigned char value, std::size_t bytes);
/// Every number of [to, to + count) becomes `value`.
void fill_floats(const Stream& stream, float* to, float value, std::size_t count);

}  // namespace ts::inline v0::cuda

namespace ts::inline v0 {

/// A rows x cols matrix that owns its memory on the device of a stream, contiguous, move-only, not
/// initialised.
template <class T, Layout L = Layout::row_major>
class DeviceMatrix {
 public:
  using value_type = T;
  using View = DeviceView<T, L>;
  using ConstView = DeviceView<const T, L>;

  DeviceMatrix() = default;
  /// @throws Error(invalid_argument) for negative sizes, Error(out_of_memory).
  DeviceMatrix(const cuda::Stream& stream, index_t rows, index_t cols) : rows_(rows), cols_(cols) {
    expects(rows >= 0 && cols >= 0, "a matrix needs non-negative rows and columns");
    expects(cols == 0 || rows <= INT64_MAX / static_cast<index_t>(sizeof(T)) / cols,
            "a matrix of this many rows and columns has more than 2^63 bytes");
    memory_ = cuda::Memory(stream, static_cast<std::size_t>(rows * cols) * sizeof(T));
  }

  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  [[nodiscard]] index_t ld() const noexcept { return L == Layout::row_major ? cols_ : rows_; }
  [[nodiscard]] View view() noexcept { return View::unchecked(data(), rows_, cols_, ld()); }
  [[nodiscard]] ConstView view() const noexcept { return ConstView::unchecked(data(), rows_, cols_, ld()); }
  [[nodiscard]] ConstView cview() const noexcept { return view(); }

 private:
  cuda::Memory memory_;
  index_t rows_ = 0, cols_ = 0;
};

/// to = from between two views of one layout, in the order of the stream; any spaces, any leading dimensions.
/// The host side must stay as it is until the stream has been synchronised.
/// @throws Error(invalid_argument) for shapes that differ.
template <class T, Space ST, Space SF, class F, Layout L>
requires std::is_same_v<T, std::remove_const_t<F>>
void copy(const cuda::Stream& stream, MatrixView<T, ST, L> to, MatrixView<F, SF, L> from) {
  expects(to.rows() == from.rows() && to.cols() == from.cols(), "copy: the two matrices differ in shape");
  if (to.empty()) return;
  const bool rows = L == Layout::row_major;
  const auto bytes = [](index_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
  cuda::copy_lines(stream, to.data(), bytes(to.ld()), from.data(), bytes(from.ld()),
                   bytes(rows ? to.cols() : to.rows()), static_cast<std::size_t>(rows ? to.rows() : to.cols()));
}

}  // namespace ts::inline v0
