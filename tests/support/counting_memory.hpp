// A memory resource that counts what is taken of it, and what has not come back.
#pragma once

#include <atomic>
#include <memory_resource>

namespace ts::test {

class CountingMemory final : public std::pmr::memory_resource {
 public:
  std::atomic<int> taken = 0, out = 0;
  std::atomic<std::size_t> bytes = 0;  ///< out now
  std::atomic<std::size_t> most = 0;   ///< out at once so far

 private:
  void* do_allocate(std::size_t count, std::size_t alignment) override {
    ++taken, ++out;
    const std::size_t now = bytes += count;
    for (std::size_t before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
    return std::pmr::new_delete_resource()->allocate(count, alignment);
  }
  void do_deallocate(void* p, std::size_t count, std::size_t alignment) override {
    --out, bytes -= count;
    std::pmr::new_delete_resource()->deallocate(p, count, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace ts::test
