// 64 bits that stand for all bits of a result.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::baseline {

/// FNV-1a over bytes.
class Hash {
 public:
  void bytes(const void* data, std::size_t size) noexcept {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) state_ = (state_ ^ p[i]) * 0x100000001b3u;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> Hash& add(const T& x) noexcept {
    bytes(&x, sizeof x);
    return *this;
  }
  template <class T>
  Hash& add(std::span<const T> all) noexcept {
    add(all.size());
    bytes(all.data(), all.size_bytes());
    return *this;
  }
  template <class T>
  Hash& add(const std::vector<T>& all) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
      add(all.size());
      for (const bool x : all) add(x);
      return *this;
    } else {
      return add(std::span<const T>(all));
    }
  }
  template <class T>
  Hash& add(const Matrix<T>& m) noexcept {
    add(m.rows()).add(m.cols());
    bytes(m.data(), static_cast<std::size_t>(m.rows() * m.cols()) * sizeof(T));
    return *this;
  }
  Hash& text(std::string_view words) noexcept {
    add(words.size());
    bytes(words.data(), words.size());
    return *this;
  }
  /// 16 hexadecimal digits.
  [[nodiscard]] std::string digits() const {
    char out[17];
    std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(state_));
    return out;
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace ts::baseline
