#include "tallskinny/gemm/runtime/gpu/stream_home.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

namespace ts::inline v0::cuda {

namespace {

constexpr std::uintptr_t alignment = 256;

std::string amount(std::size_t bytes) { return std::to_string(bytes) + " bytes of its memory"; }

/// Null where there is not enough, if that `may` be.
void* from_driver(std::size_t bytes, bool may) {
  CUdeviceptr p = 0;
  const CUresult code = driver().mem_alloc(&p, bytes);
  if (may && code == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  check(code, "allocate " + amount(bytes));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
  return reinterpret_cast<void*>(p);
}

void to_driver(void* data) noexcept { driver().mem_free(reinterpret_cast<CUdeviceptr>(data)); }

/// One of 16 numbers between a power of two and the next, so that blocks fit again.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes) / 16, alignment);
  return (bytes + step - 1) / step * step;
}

}  // namespace

StreamHome::StreamHome(int of_device, CUstream of_stream, bool is_ours, DeviceAllocator from)
    : device(of_device), stream(of_stream), ours(is_ours), allocator(std::move(from)) {
  expects(static_cast<bool>(allocator.allocate) == static_cast<bool>(allocator.release),
          "a cuda::DeviceAllocator has `allocate` and `release`, or neither");
}

StreamHome::~StreamHome() {
  free_kept();
  if (!ours) return;
  try {
    const Active active(device);
    driver().stream_destroy(stream);
  } catch (const Error&) {  // the driver is gone, and the stream with it
  }
}

StreamHome::Block StreamHome::take(std::size_t bytes) const {
  const Active active(device);
  if (!allocator.allocate) {
    const std::lock_guard lock(mutex_);
    if (keepers_ == 0) return {from_driver(bytes, false), bytes};
    bytes = rounded(bytes);
    if (const auto at = kept_.lower_bound(bytes); at != kept_.end() && at->first <= bytes + bytes / 4) {
      const Block block{at->second, at->first};
      kept_bytes_ -= block.bytes;
      kept_.erase(at);
      return block;
    }
    if (void* const data = from_driver(bytes, !kept_.empty()); data != nullptr) return {data, bytes};
    free_kept();
    return {from_driver(bytes, false), bytes};
  }
  void* data = nullptr;
  try {
    data = allocator.allocate(bytes, stream);
  } catch (const std::bad_alloc&) {  // as null
  }
  if (data == nullptr)
    throw Error(Errc::out_of_memory, "the program's allocator gave device " + std::to_string(device) + " none of " +
                                         std::to_string(bytes) + " bytes");
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
    allocator.release(data, bytes, stream);
    throw Error(Errc::invalid_argument, "memory of a cuda::DeviceAllocator must be aligned to 256 bytes");
  }
  return {data, bytes};
}

void StreamHome::give_back(Block block) const noexcept {
  try {
    const Active active(device);
    if (allocator.release) return allocator.release(block.data, block.bytes, stream);
    const std::lock_guard lock(mutex_);
    if (keepers_ > 0 && kept_bytes_ + block.bytes <= most_kept_) {
      kept_.emplace(block.bytes, block.data);
      kept_bytes_ += block.bytes;
      return;
    }
    to_driver(block.data);  // waits for work that may use it, whose error it is
  } catch (...) {           // the driver is gone, and the memory with it
  }
}

void StreamHome::keep() const {
  const Active active(device);
  std::size_t unused = 0, total = 0;
  check(driver().mem_info(&unused, &total), "tell how much memory it has");
  const std::lock_guard lock(mutex_);
  most_kept_ = total / 8;
  ++keepers_;
}

void StreamHome::keep_no_longer() const noexcept {
  const std::lock_guard lock(mutex_);
  if (--keepers_ == 0) free_kept();
}

std::size_t StreamHome::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

void StreamHome::free_kept() const noexcept {
  if (kept_.empty()) return;
  try {
    const Active active(device);
    for (const auto& [bytes, data] : kept_) to_driver(data);
  } catch (const Error&) {  // the driver is gone
  }
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace ts::inline v0::cuda
