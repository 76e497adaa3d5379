#include "tallskinny/gemm/runtime/gpu/staging.hpp"

#include <algorithm>
#include <cstring>

namespace ts::inline v0::cuda {

void Staging::begin(const Stream& stream, std::size_t bytes) {
  if (used_ + bytes <= device_.bytes()) return;
  stream.synchronize();
  used_ = 0;
  if (bytes <= device_.bytes()) return;
  host_ = PinnedMemory();
  device_ = Memory();
  const std::size_t size = std::max(2 * bytes, std::size_t{1} << 20);
  device_ = Memory(stream, size);
  host_ = PinnedMemory(stream, size);
}

Staging::Stretch Staging::take(std::size_t bytes) {
  const Stretch stretch{static_cast<char*>(host_.data()) + used_, static_cast<char*>(device_.data()) + used_, bytes};
  used_ += rounded(bytes);
  return stretch;
}

void Staging::upload(const Stream& stream, const Stretch& stretch) {
  copy_bytes(stream, stretch.device, stretch.host, stretch.bytes);
}

void Staging::download(const Stream& stream, const Stretch& stretch, const void* from) {
  if (stream.rehearsal() != nullptr) std::memset(stretch.host, 0, stretch.bytes);
  copy_bytes(stream, stretch.host, from != nullptr ? from : stretch.device, stretch.bytes);
}

void Staging::finish(const Stream& stream) {
  stream.synchronize();
  used_ = 0;
}

}  // namespace ts::inline v0::cuda
