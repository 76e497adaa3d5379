#include "tallskinny/gemm/runtime/gpu/stream_home.hpp"

#include <cstdint>
#include <new>
#include <utility>

namespace ts::inline v0::cuda {

namespace {

constexpr std::uintptr_t alignment = 256;

std::string amount(std::size_t bytes) { return std::to_string(bytes) + " bytes of its memory"; }

void* from_driver(std::size_t bytes) {
  CUdeviceptr p = 0;
  check(driver().mem_alloc(&p, bytes), "allocate " + amount(bytes));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
  return reinterpret_cast<void*>(p);
}

}  // namespace

StreamHome::StreamHome(int of_device, CUstream of_stream, bool is_ours, DeviceAllocator from)
    : device(of_device), stream(of_stream), ours(is_ours), allocator(std::move(from)) {
  expects(static_cast<bool>(allocator.allocate) == static_cast<bool>(allocator.release),
          "a cuda::DeviceAllocator has `allocate` and `release`, or neither");
}

StreamHome::~StreamHome() {
  if (!ours) return;
  try {
    const Active active(device);
    driver().stream_destroy(stream);
  } catch (const Error&) {  // the driver is gone, and the stream with it
  }
}

void* StreamHome::take(std::size_t bytes) const {
  const Active active(device);
  if (!allocator.allocate) return from_driver(bytes);
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
  return data;
}

void StreamHome::give_back(void* data, std::size_t bytes) const noexcept {
  try {
    const Active active(device);
    if (allocator.release) return allocator.release(data, bytes, stream);
    driver().mem_free(reinterpret_cast<CUdeviceptr>(data));  // waits for work that may use it, whose error it is
  } catch (const Error&) {                                   // the driver is gone, and the memory with it
  }
}

}  // namespace ts::inline v0::cuda
