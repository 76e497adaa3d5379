#include "tallskinny/gemm/core/matrix.hpp"

#include <cstdlib>
#include <string>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ts {

namespace {
constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
}  // namespace

void* allocate_host(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : cache_line;
  void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr)
    throw Error(Errc::out_of_memory, "could not allocate " + std::to_string(bytes) + " bytes of host memory");
#if defined(__linux__)
  // A hint: with 4 KiB pages a streaming pass loses several per cent to address translation.
  if (alignment == huge_page) ::madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return p;
}

void release_host(void* p) noexcept { std::free(p); }

}  // namespace ts
