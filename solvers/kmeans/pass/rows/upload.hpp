// Device memory cut into parts, and numbers on their way there.
#pragma once

#include <algorithm>
#include <span>

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/cpu/rows.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/staging.hpp"

namespace ts::inline v0::assign_device {

/// Parts of the stream's workspace, one after the other: first all sizes, then the memory.
class Workspace {
 public:
  /// Offset of the next part of `count` numbers.
  template <class T>
  std::size_t reserve(index_t count) {
    const std::size_t place = bytes_;
    bytes_ = (bytes_ + ts::at(count) * sizeof(T) + 255) / 256 * 256;
    return place;
  }
  void get(const cuda::Stream& stream) { memory_ = static_cast<char*>(stream.workspace(bytes_)); }
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(memory_ + offset);
  }

 private:
  std::size_t bytes_ = 0;
  char* memory_ = nullptr;
};

/// Copies to host memory, and waits for the end of the stream.
template <class T>
void fetch_numbers(const Context& ctx, std::span<T> to, const T* from) {
  cuda::copy_bytes(ctx.stream, to.data(), from, to.size_bytes());
  ctx.stream.synchronize();
}
/// One number from there.
template <class T>
[[nodiscard]] T fetch_number(const Context& ctx, const T* from) {
  T number{};
  fetch_numbers<T>(ctx, {&number, 1}, from);
  return number;
}

/// A small matrix in blocks of rows that a cache next to a processor holds.
struct SmallBlocks {
  index_t rows, count;

  explicit SmallBlocks(HostView<const double> m)
      : rows(std::max<index_t>(1, (index_t{1} << 13) / std::max<index_t>(1, m.cols()))),
        count(m.empty() ? 0 : cuda::ceil_div(m.rows(), rows)) {}
};

/// Calls work(number of the block, block) for each. A pass waits for the slowest thread, which on a shared
/// machine may be milliseconds late: so each is only woken for some of them.
template <class Work>
void for_blocks(const Context& ctx, HostView<const double> m, const Work& work) {
  constexpr index_t blocks_of_a_thread = 4;
  const SmallBlocks blocks(m);
  const auto threads = static_cast<int>(std::clamp<index_t>(blocks.count / blocks_of_a_thread, 1, ctx.thread_count()));
  parallel_pieces(threads, blocks.count, [&](index_t b, int) {
    work(b, m.rows(b * blocks.rows, std::min(blocks.rows, m.rows() - b * blocks.rows)));
  });
}

/// Numbers that are sent to the device in one copy, from page-locked memory of the stream: to anywhere, or to
/// the memory beside that, where they stay until the stream stages something else.
class Upload {
 public:
  Upload(const Context& ctx, index_t numbers) : ctx_(ctx) {
    const std::size_t bytes = at(numbers) * sizeof(double);
    cuda::Staging& staging = ctx.stream.staging();
    staging.begin(ctx.stream, cuda::Staging::rounded(bytes));
    const cuda::Staging::Stretch stretch = staging.take(bytes);
    numbers_ = {static_cast<double*>(stretch.host), at(numbers)};
    there_ = static_cast<double*>(stretch.device);
  }
  void add(HostView<const double> m) {
    add(m, [](index_t, HostView<const double>) {});
  }
  /// visit(number of the block, block) is called for the blocks of for_blocks while they are in a cache.
  template <class Visit>
  void add(HostView<const double> m, const Visit& visit) {
    double* const to = take(m.rows() * m.cols()).data();
    const index_t rows = SmallBlocks(m).rows;
    for_blocks(ctx_, m, [&](index_t b, HostView<const double> block) {
      for (index_t i = 0; i < block.rows(); ++i)
        std::copy_n(block.data() + i * block.ld(), block.cols(), to + (b * rows + i) * m.cols());
      visit(b, block);
    });
  }
  void add(std::span<const double> v) { std::copy(v.begin(), v.end(), take(static_cast<index_t>(v.size())).begin()); }
  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// Address of the numbers added next, after send().
  [[nodiscard]] double* next() const noexcept { return there_ + size_; }
  void send() const { send(there_); }
  void send(double* to) const { cuda::copy_bytes(ctx_.stream, to, numbers_.data(), at(size_) * sizeof(double)); }

 private:
  std::span<double> take(index_t count) {
    expects(size_ + count <= static_cast<index_t>(numbers_.size()), "an upload is longer than was declared");
    size_ += count;
    return numbers_.subspan(at(size_ - count), at(count));
  }

  const Context& ctx_;
  std::span<double> numbers_;
  double* there_;
  index_t size_ = 0;
};

}  // namespace ts::inline v0::assign_device
