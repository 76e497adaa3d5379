// A 64-bit checksum at the speed of memory. It finds what is changed by accident, not by an adversary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"

namespace ts::inline v0::io {

/// Eight words pass through eight lanes, h_j <- rotate(h_j xor w, 29) * odd, each step a bijection of h_j for
/// a given word and of the word for a given h_j: whatever changes one word, or words of one lane only in the
/// last of them, changes the result for certain, anything else but for one chance in 2^64.
class Hash {
 public:
  /// The bytes and their number; a list of parts differs from their concatenation.
  Hash& add(const void* data, std::size_t bytes) noexcept;
  template <class T>
  Hash& add(std::span<const T> values) noexcept {
    return add(values.data(), values.size_bytes());
  }
  Hash& add(std::uint64_t word) noexcept { return add(&word, sizeof word); }
  Hash& add(double number) noexcept { return add(&number, sizeof number); }
  Hash& add(std::string_view text) noexcept { return add(text.data(), text.size()); }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x9e3779b97f4a7c15u;
};

/// The hash of each piece of `unit` rows, pattern and values, taken by `threads` threads. Of a matrix whose rows
/// are cut where pieces begin, the hashes of the parts one after the other are those of the whole. T: double, float and
/// their complex types.
template <class T>
[[nodiscard]] std::vector<std::uint64_t> row_hashes(const CsrView<T>& rows, index_t unit, int threads = 1);
template <class T>
[[nodiscard]] std::vector<std::uint64_t> row_hashes(HostView<const T> rows, index_t unit, int threads = 1);

}  // namespace ts::inline v0::io
