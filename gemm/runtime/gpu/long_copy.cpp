#include "tallskinny/gemm/runtime/gpu/long_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/gemm/runtime/gpu/staging.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::inline v0::cuda {

namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;
constexpr int most_threads = 8;  // more than a bus can keep up with

void copy_by_threads(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t slice = std::size_t{256} << 10;
  const auto slices = static_cast<index_t>((bytes + slice - 1) / slice);
  parallel_for(std::min(most_threads, default_threads()), slices, [&](index_t s) {
    const std::size_t first = static_cast<std::size_t>(s) * slice;
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first, std::min(slice, bytes - first));
  });
}

/// Page-locked memory for two pieces, and where the stream's work on each stands.
class Pieces {
 public:
  Pieces(const Stream& stream, std::size_t bytes)
      : stream_(stream), bytes_(bytes), passed_{Event(stream), Event(stream)} {
    stream.staging().begin(stream, 2 * piece_bytes);
    for (void*& m : memory_) m = stream.staging().take(piece_bytes).host;
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() = default;

  [[nodiscard]] std::size_t count() const noexcept { return (bytes_ + piece_bytes - 1) / piece_bytes; }
  [[nodiscard]] static std::size_t first(std::size_t k) noexcept { return k * piece_bytes; }
  [[nodiscard]] std::size_t size(std::size_t k) const noexcept { return std::min(piece_bytes, bytes_ - first(k)); }
  [[nodiscard]] void* memory(std::size_t k) const noexcept { return memory_.at(k % 2); }
  void record(std::size_t k) { passed_.at(k % 2).record(stream_); }
  void wait(std::size_t k) const { passed_.at(k % 2).wait(); }

 private:
  const Stream& stream_;
  std::size_t bytes_;
  std::array<Event, 2> passed_;
  std::array<void*, 2> memory_{};
};

bool moves_nothing(const Stream& stream, std::size_t bytes) { return bytes == 0 || stream.rehearsal() != nullptr; }

}  // namespace

void upload(const Stream& stream, void* there, const void* here, std::size_t bytes) {
  if (moves_nothing(stream, bytes)) return;
  Pieces pieces(stream, bytes);
  for (std::size_t k = 0; k < pieces.count(); ++k) {
    if (k >= 2) pieces.wait(k);
    copy_by_threads(pieces.memory(k), static_cast<const char*>(here) + Pieces::first(k), pieces.size(k));
    copy_bytes(stream, static_cast<char*>(there) + Pieces::first(k), pieces.memory(k), pieces.size(k));
    pieces.record(k);
  }
  stream.staging().finish(stream);
}

void download(const Stream& stream, void* here, const void* there, std::size_t bytes) {
  if (moves_nothing(stream, bytes)) return;
  Pieces pieces(stream, bytes);
  const auto send = [&](std::size_t k) {
    if (k >= pieces.count()) return;
    copy_bytes(stream, pieces.memory(k), static_cast<const char*>(there) + Pieces::first(k), pieces.size(k));
    pieces.record(k);
  };
  send(0);
  for (std::size_t k = 0; k < pieces.count(); ++k) {
    send(k + 1);
    pieces.wait(k);
    copy_by_threads(static_cast<char*>(here) + Pieces::first(k), pieces.memory(k), pieces.size(k));
  }
  stream.staging().finish(stream);
}

}  // namespace ts::inline v0::cuda
