// What a stream's memory keeps of it: the stream itself, and where memory goes back to. Included only by files that
// call the driver.
#pragma once

#include <map>
#include <mutex>

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

  /// A block of so many bytes at least, and how many it has.
  struct Block {
    void* data;
    std::size_t bytes;
  };
  /// @throws Error(out_of_memory) with the number of bytes; Error(invalid_argument) for memory of the program's that is
  /// not aligned.
  [[nodiscard]] Block take(std::size_t bytes) const;
  void give_back(Block block) const noexcept;

  /// From now on blocks of the driver's that come back stay for what asks next (KeepMemory), until as many calls of
  /// keep_no_longer().
  void keep() const;
  void keep_no_longer() const noexcept;
  [[nodiscard]] std::size_t kept_bytes() const;

 private:
  void free_kept() const noexcept;

  mutable std::mutex mutex_;  ///< of what follows
  mutable int keepers_ = 0;
  mutable std::multimap<std::size_t, void*> kept_;  ///< by bytes
  mutable std::size_t kept_bytes_ = 0, most_kept_ = 0;
};

}  // namespace ts::inline v0::cuda
