#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

#include <bit>
#include <cstdint>

#include "tallskinny/gemm/runtime/gpu/driver.hpp"
#include "tallskinny/gemm/runtime/gpu/stream_home.hpp"

namespace ts::inline v0::cuda {

namespace {

CUdeviceptr address(const void* p) noexcept { return reinterpret_cast<CUdeviceptr>(p); }

/// Lines from this size on are copied one by one: the driver's two-dimensional copy takes distances below 2
/// GiB only.
constexpr std::size_t long_line = std::size_t{1} << 20;

}  // namespace

Memory::Memory(const Stream& stream, std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  if (Rehearsal* const rehearsal = stream.rehearsal(); rehearsal != nullptr) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): memory that is not there
    data_ = {reinterpret_cast<void*>(rehearsal->next_address), Release{}};
    rehearsal->next_address += (bytes + 255) / 256 * 256;
    return;
  }
  const auto& home = stream.home();
  const StreamHome::Block block = home->take(bytes);
  data_ = {block.data, Release{home, block.bytes}};
}

void Memory::Release::operator()(void* data) const noexcept {
  if (home != nullptr) home->give_back({data, bytes});
}

KeepMemory::KeepMemory(const Stream& stream) {
  if (!stream || stream.rehearsal() != nullptr) return;
  stream.home()->keep();
  home_ = stream.home();
}

KeepMemory::~KeepMemory() {
  if (home_ != nullptr) home_->keep_no_longer();
}

void copy_bytes(const Stream& stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || stream.rehearsal() != nullptr) return;
  const Active active(stream.device().index);
  check(driver().mem_copy(address(to), address(from), bytes, stream.handle()),
        "copy " + std::to_string(bytes) + " bytes");
}

void copy_lines(const Stream& stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                std::size_t line_bytes, std::size_t lines) {
  if (to_pitch == line_bytes && from_pitch == line_bytes) return copy_bytes(stream, to, from, line_bytes * lines);
  if (line_bytes == 0 || lines == 0 || stream.rehearsal() != nullptr) return;
  if (line_bytes >= long_line || to_pitch > INT32_MAX || from_pitch > INT32_MAX) {
    for (std::size_t i = 0; i < lines; ++i)
      copy_bytes(stream, static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch,
                 line_bytes);
    return;
  }
  const Active active(stream.device().index);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = address(from), copy.srcPitch = from_pitch;
  copy.dstDevice = address(to), copy.dstPitch = to_pitch;
  copy.WidthInBytes = line_bytes, copy.Height = lines;
  check(driver().mem_copy_2d(&copy, stream.handle()), "copy " + std::to_string(lines) + " lines");
}

void fill_bytes(const Stream& stream, void* to, unsigned char value, std::size_t bytes) {
  if (bytes == 0 || stream.rehearsal() != nullptr) return;
  const Active active(stream.device().index);
  check(driver().mem_set(address(to), value, bytes, stream.handle()), "fill " + std::to_string(bytes) + " bytes");
}

void fill_floats(const Stream& stream, float* to, float value, std::size_t count) {
  if (count == 0 || stream.rehearsal() != nullptr) return;
  const Active active(stream.device().index);
  check(driver().mem_set_words(address(to), std::bit_cast<unsigned>(value), count, stream.handle()),
        "fill " + std::to_string(count) + " numbers");
}

}  // namespace ts::inline v0::cuda
