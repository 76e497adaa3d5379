#include "tallskinny/gemm/backend/cuda/staging.hpp"

#include <algorithm>
#include <cstring>

#include "tallskinny/gemm/backend/cuda/driver.hpp"

namespace ts::cuda {

Staging::~Staging() {
  release();
}

void Staging::release() noexcept {
  if (host_ == nullptr) return;
  if (!pinned_) return release_host(std::exchange(host_, nullptr));
  try {
    const Active active(owner_);
    driver().host_free(std::exchange(host_, nullptr));
  } catch (const Error&) {  // the driver is gone, and the memory with it
  }
}

void Staging::begin(const Stream& stream, std::size_t bytes) {
  if (used_ + bytes <= device_.bytes()) return;
  stream.synchronize();
  used_ = 0;
  if (bytes <= device_.bytes()) return;
  release();
  device_ = Memory();
  const std::size_t size = std::max(2 * bytes, std::size_t{1} << 20);
  device_ = Memory(stream, size);
  owner_ = stream.device().index, pinned_ = stream.rehearsal() == nullptr;
  if (pinned_) {
    const Active active(owner_);
    check(driver().host_alloc(&host_, size, 0),
          "allocate " + std::to_string(size) + " bytes of pinned memory");
  } else {
    host_ = allocate_host(size);
    std::memset(host_, 0, size);
  }
}

Staging::Stretch Staging::take(std::size_t bytes) {
  const Stretch stretch{static_cast<char*>(host_) + used_, static_cast<char*>(device_.data()) + used_, bytes};
  used_ += rounded(bytes);
  return stretch;
}

void Staging::upload(const Stream& stream, const Stretch& stretch) {
  copy_bytes(stream, stretch.device, stretch.host, stretch.bytes);
}

void Staging::download(const Stream& stream, const Stretch& stretch) {
  copy_bytes(stream, stretch.host, stretch.device, stretch.bytes);
}

void Staging::finish(const Stream& stream) {
  stream.synchronize();
  used_ = 0;
}

}  // namespace ts::cuda
