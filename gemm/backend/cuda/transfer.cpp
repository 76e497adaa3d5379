#include "tallskinny/gemm/backend/cuda/transfer.hpp"

#include <cstring>

#include "tallskinny/gemm/backend/cuda/driver.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::cuda {

PinnedMemory::PinnedMemory(const Stream& stream, std::size_t bytes)
    : bytes_(bytes), device_(stream.rehearsal() == nullptr ? stream.device().index : ordinary) {
  if (bytes == 0) return;
  if (device_ == ordinary) {
    data_ = allocate_host(bytes);
    std::memset(data_, 0, bytes);
    return;
  }
  const Active active(device_);
  check(driver().host_alloc(&data_, bytes, CU_MEMHOSTALLOC_PORTABLE),
        "get " + std::to_string(bytes) + " bytes of page-locked host memory");
}

PinnedMemory::~PinnedMemory() {
  if (data_ == nullptr) return;
  if (device_ == ordinary) {
    release_host(data_);
    return;
  }
  try {
    const Active active(device_);
    driver().host_free(data_);
  } catch (const Error&) {  // the driver is gone, and the memory with it
  }
}

std::uint64_t free_memory(const Stream& stream) {
  const Active active(stream.device().index);
  std::size_t unused = 0, total = 0;
  check(driver().mem_info(&unused, &total), "tell how much memory is free");
  return unused;
}

}  // namespace ts::cuda
