// One number for each row, in the memory in which the rows lie.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0 {

/// A view of such numbers; T may be constant. Whatever is contiguous in host memory converts to it.
template <class T>
struct PerRow {
  T* data = nullptr;
  index_t size = 0;
  Space space = Space::host;

  PerRow() noexcept = default;
  PerRow(T* first, index_t count, Space where) noexcept : data(first), size(count), space(where) {}
  template <class Range>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): a PerRow converts to no span
  requires std::is_convertible_v<Range&&, std::span<T>> PerRow(Range&& range)
  noexcept {
    const std::span<T> all = range;
    data = all.data(), size = static_cast<index_t>(all.size());
  }
  operator PerRow<const T>() const noexcept requires(!std::is_const_v<T>) { return {data, size, space}; }

  [[nodiscard]] bool empty() const noexcept { return size == 0; }
  /// The numbers as a span; only in host memory.
  [[nodiscard]] std::span<T> span() const noexcept { return {data, at(size)}; }
  /// The numbers of `count` rows from row `first` on; none if there are none.
  [[nodiscard]] PerRow part(index_t first, index_t count) const noexcept {
    return empty() ? *this : PerRow(data + first, count, space);
  }
};

/// The owner of such numbers.
template <class T>
class PerRowArray {
 public:
  PerRowArray() = default;
  /// `values`, in the memory of `space`: on the device of ctx.stream, or where they are.
  PerRowArray(const Context& ctx, Space space, std::vector<T> values)
      : size_(static_cast<index_t>(values.size())), space_(space) {
    if (space == Space::host) {
      host_ = std::move(values);
      return;
    }
    stream_ = ctx.stream;
    device_ = cuda::Memory(stream_, values.size() * sizeof(T));
    if (values.empty()) return;
    cuda::copy_bytes(stream_, device_.data(), values.data(), device_.bytes());
    stream_.synchronize();
  }

  /// `count` numbers in the memory of `space`, every byte of which is `byte`.
  PerRowArray(const Context& ctx, Space space, index_t count, unsigned char byte) : size_(count), space_(space) {
    const std::size_t bytes = at(count) * sizeof(T);
    if (space == Space::host) {
      T value;
      std::memset(&value, byte, sizeof value);
      host_.assign(at(count), value);
      return;
    }
    stream_ = ctx.stream;
    device_ = cuda::Memory(stream_, bytes);
    cuda::fill_bytes(stream_, device_.data(), byte, bytes);
  }

  /// `count` numbers in host memory that are to be set. @param room whose memory serves, if it has enough
  explicit PerRowArray(index_t count, PerRowArray room = {}) : size_(count) {
    unset_ = std::move(room.unset_), has_memory_ = room.has_memory_;
    if (unset_.data() != nullptr && count <= has_memory_) return;
    has_memory_ = count + count / 16;  // for a few more next time; what is not touched takes no memory
    unset_ = HostMemory(at(has_memory_) * sizeof(T));
  }

  [[nodiscard]] PerRow<T> view() noexcept {
    void* const there = space_ == Space::host ? unset_.data() : device_.data();
    return {there == nullptr ? host_.data() : static_cast<T*>(there), size_, space_};
  }
  [[nodiscard]] PerRow<const T> view() const noexcept { return const_cast<PerRowArray*>(this)->view(); }

  [[nodiscard]] std::vector<T> to_host() const& {
    const PerRow<const T> all = view();
    if (space_ == Space::host) return {all.data, all.data + size_};
    std::vector<T> values(at(size_));
    if (size_ == 0) return values;
    cuda::copy_bytes(stream_, values.data(), device_.data(), values.size() * sizeof(T));
    stream_.synchronize();
    return values;
  }
  /// Nothing is left on the device.
  [[nodiscard]] std::vector<T> to_host() && {
    if (std::ssize(host_) == size_) return std::move(host_);
    const PerRowArray going(std::move(*this));
    return going.to_host();
  }

 private:
  std::vector<T> host_;
  HostMemory unset_;  ///< or this, with room for so many
  index_t has_memory_ = 0;
  cuda::Memory device_;
  cuda::Stream stream_;
  index_t size_ = 0;
  Space space_ = Space::host;
};

}  // namespace ts::inline v0
