// The way of small matrices between the host and a device.
#pragma once

#include <cstddef>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"

namespace ts::inline v0::cuda {

/// Pinned host memory and as much device memory beside it, shared by all operations of one stream: a stretch
/// of either stands for the same bytes. Uploads do not wait. Belongs to a Stream (Stream::staging).
class Staging {
 public:
  Staging() noexcept = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  struct Stretch {
    void* host = nullptr;
    void* device = nullptr;
    std::size_t bytes = 0;
  };
  /// The stretches taken from here on have `bytes` together (each rounded up to `alignment`); those taken
  /// before may be overwritten. Waits where stretches of before are still under way in the same memory.
  /// @throws Error(out_of_memory).
  void begin(const Stream& stream, std::size_t bytes);
  [[nodiscard]] Stretch take(std::size_t bytes);
  static constexpr std::size_t alignment = 256;
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  static void upload(const Stream& stream, const Stretch& stretch);
  /// From elsewhere on the device if that is given. What a rehearsal downloads is zeros.
  static void download(const Stream& stream, const Stretch& stretch, const void* from = nullptr);
  /// Waits for everything in the stream.
  void finish(const Stream& stream);

 private:
  Memory device_;
  PinnedMemory host_;
  [[maybe_unused]] std::size_t used_ = 0;  // (without CUDA)
};

}  // namespace ts::inline v0::cuda
