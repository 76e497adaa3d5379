// Owner of one HDF5 identifier. Needs no HDF5 header: an hid_t is a 64-bit integer.
#pragma once

#include <cstdint>
#include <utility>

namespace ts::inline v0::io::hdf5 {

class Handle {
 public:
  using Close = int (*)(std::int64_t);

  Handle() = default;
  Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

  /// Gives up ownership without closing.
  void release() noexcept { id_ = -1; }
  /// Closes now; the result of HDF5's close, 0 if there was nothing to close.
  int reset() noexcept {
    const auto id = std::exchange(id_, -1);
    return id >= 0 ? close_(id) : 0;
  }

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

}  // namespace ts::inline v0::io::hdf5
