// What a stream's memory keeps of it: the stream itself, and where memory goes back to. Included only by files that
// call the driver.
#pragma once

#include "tallskinny/gemm/runtime/gpu/driver.hpp"
#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::inline v0::cuda {

/// The one place where device memory is taken and given back.
struct StreamHome {
  int device = 0;
  CUstream stream = nullptr;
  bool ours = false;
  DeviceAllocator allocator;

  StreamHome(int of_device, CUstream of_stream, bool is_ours, DeviceAllocator from);
  StreamHome(const StreamHome&) = delete;
  StreamHome& operator=(const StreamHome&) = delete;
  ~StreamHome();

  /// @throws Error(out_of_memory) with the number of bytes; Error(invalid_argument) for memory of the program's that is
  /// not aligned.
  [[nodiscard]] void* take(std::size_t bytes) const;
  void give_back(void* data, std::size_t bytes) const noexcept;
};

}  // namespace ts::inline v0::cuda
