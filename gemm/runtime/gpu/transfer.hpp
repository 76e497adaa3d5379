// What sending data to a device block by block needs: host memory that copies read directly, and how much the
// device has free.
#pragma once

#include <memory>

#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::inline v0::cuda {

/// Page-locked host memory: copies between it and a device run beside the host and beside kernels; for a
/// stream that rehearses, ordinary memory of zeros. Move-only.
class PinnedMemory {
 public:
  PinnedMemory() noexcept = default;
  /// @throws Error(out_of_memory) with the number of bytes that could not be had.
  PinnedMemory(const Stream& stream, std::size_t bytes);

  [[nodiscard]] void* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Release {
    int device;  ///< whose driver gave it
    void operator()(void* data) const noexcept;
  };
  std::unique_ptr<void, Release> data_;
  std::size_t bytes_ = 0;
};

/// Bytes that a stream can still take of its device: what that has free, or DeviceAllocator::available.
[[nodiscard]] std::uint64_t free_memory(const Stream& stream);

}  // namespace ts::inline v0::cuda
