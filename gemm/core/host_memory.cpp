#include "tallskinny/gemm/core/host_memory.hpp"

#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "tallskinny/gemm/core/error.hpp"
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ts::inline v0 {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

[[noreturn]] void refuse_bytes(std::size_t bytes) {
  throw Error(Errc::out_of_memory, "could not allocate " + std::to_string(bytes) + " bytes of host memory");
}

/// What matrices take their memory from where nothing else is in use.
class OwnHostMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override { return allocate_host(bytes); }
  void do_deallocate(void* p, std::size_t, std::size_t) override { release_host(p); }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

thread_local std::pmr::memory_resource* memory_in_use = nullptr;

}  // namespace

void* allocate_host(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : cache_line;
  void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) refuse_bytes(bytes);
#if defined(__linux__)
  // A hint: with 4 KiB pages a streaming pass loses several per cent to address translation.
  if (alignment == huge_page) ::madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return p;
}

void release_host(void* p) noexcept { std::free(p); }

std::pmr::memory_resource* own_host_memory() {
  static OwnHostMemory* const own = new OwnHostMemory;  // for matrices that live to the end of the process
  return own;
}

std::pmr::memory_resource* host_memory() { return memory_in_use != nullptr ? memory_in_use : own_host_memory(); }

UseHostMemory::UseHostMemory(std::pmr::memory_resource* from) noexcept
    : before_(std::exchange(memory_in_use, from != nullptr ? from : memory_in_use)) {}
UseHostMemory::~UseHostMemory() { memory_in_use = before_; }

HostMemory::HostMemory(std::size_t bytes, std::pmr::memory_resource* from) {
  if (bytes == 0) return;
  if (from == nullptr) from = host_memory();
  void* p = nullptr;
  try {
    p = from->allocate(bytes, cache_line);
  } catch (const std::bad_alloc&) {
    refuse_bytes(bytes);
  }
  data_ = {p, Release{from, bytes}};
}

void HostMemory::Release::operator()(void* p) const noexcept { from->deallocate(p, bytes, cache_line); }

}  // namespace ts::inline v0
