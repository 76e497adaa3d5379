// Host memory of matrices: the library's own, or from where the program says.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>

namespace ts::inline v0 {

/// Aligned host memory, in huge pages where the system grants them and the size deserves them.
/// @throws Error(out_of_memory) with the number of bytes that could not be had.
[[nodiscard]] void* allocate_host(std::size_t bytes);
void release_host(void* p) noexcept;

/// A resource that gives such memory.
[[nodiscard]] std::pmr::memory_resource* own_host_memory();

/// What matrices that this thread makes take their memory from: that of the innermost UseHostMemory, else the
/// library's own.
[[nodiscard]] std::pmr::memory_resource* host_memory();

/// While this lives, matrices that this thread makes, and the threads that work for it, take their memory from `from`;
/// null changes nothing. What a matrix took goes back to where it came from, so `from` must outlive them all. Several
/// threads call it at a time: std::pmr::synchronized_pool_resource serves, an unsynchronised one does not.
class UseHostMemory {
 public:
  explicit UseHostMemory(std::pmr::memory_resource* from) noexcept;
  ~UseHostMemory();
  UseHostMemory(const UseHostMemory&) = delete;
  UseHostMemory& operator=(const UseHostMemory&) = delete;

 private:
  std::pmr::memory_resource* before_;
};

/// Bytes in host memory, aligned to 64, not initialised. Move-only.
class HostMemory {
 public:
  HostMemory() noexcept = default;
  /// @param from null: host_memory()
  /// @throws Error(out_of_memory) with the number of bytes that could not be had.
  explicit HostMemory(std::size_t bytes, std::pmr::memory_resource* from = nullptr);

  [[nodiscard]] void* data() const noexcept { return data_.get(); }

 private:
  struct Release {
    std::pmr::memory_resource* from;
    std::size_t bytes;
    void operator()(void* p) const noexcept;
  };
  std::unique_ptr<void, Release> data_;
};

}  // namespace ts::inline v0
