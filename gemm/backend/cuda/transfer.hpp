// What sending data to a device block by block needs: host memory that copies read directly, and how much the
// device has free.
#pragma once

#include <utility>

#include "tallskinny/gemm/backend/cuda/stream.hpp"

namespace ts::cuda {

/// Page-locked host memory: copies between it and a device run beside the host and beside kernels; for a
/// stream that rehearses, ordinary memory of zeros. Move-only.
class PinnedMemory {
 public:
  PinnedMemory() noexcept = default;
  /// @throws Error(out_of_memory) with the number of bytes that could not be had.
  PinnedMemory(const Stream& stream, std::size_t bytes);
  PinnedMemory(PinnedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), device_(other.device_) {}
  PinnedMemory& operator=(PinnedMemory&& other) noexcept {
    std::swap(data_, other.data_), std::swap(bytes_, other.bytes_), std::swap(device_, other.device_);
    return *this;
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = ordinary;  ///< whose driver gave it
  static constexpr int ordinary = -1;
};

/// Bytes that the device of a stream has free now.
[[nodiscard]] std::uint64_t free_memory(const Stream& stream);

}  // namespace ts::cuda
