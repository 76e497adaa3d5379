#include "tallskinny/gemm/runtime/gpu/transfer.hpp"

#include <cstring>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/driver.hpp"
#include "tallskinny/gemm/runtime/gpu/stream_home.hpp"

namespace ts::inline v0::cuda {

namespace {

constexpr int ordinary = -1;  ///< the device of a rehearsal's memory

}  // namespace

PinnedMemory::PinnedMemory(const Stream& stream, std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  if (stream.rehearsal() != nullptr) {
    data_ = {allocate_host(bytes), Release{ordinary}};
    std::memset(data_.get(), 0, bytes);
    return;
  }
  const int device = stream.device().index;
  const Active active(device);
  void* data = nullptr;
  check(driver().host_alloc(&data, bytes, CU_MEMHOSTALLOC_PORTABLE),
        "get " + std::to_string(bytes) + " bytes of page-locked host memory");
  data_ = {data, Release{device}};
}

void PinnedMemory::Release::operator()(void* data) const noexcept {
  if (device == ordinary) return release_host(data);
  try {
    const Active active(device);
    driver().host_free(data);
  } catch (const Error&) {  // the driver is gone, and the memory with it
  }
}

std::uint64_t free_memory(const Stream& stream) {
  if (stream.rehearsal() != nullptr) return stream.device().memory_bytes;
  const Active active(stream.device().index);
  if (const auto& available = stream.home()->allocator.available) return available();
  std::size_t unused = 0, total = 0;
  check(driver().mem_info(&unused, &total), "tell how much memory is free");
  return unused + stream.home()->kept_bytes();
}

}  // namespace ts::inline v0::cuda
