// Which of many things were seen before. Internal to the room.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Numbers of things by a hash of each, in one array with places to spare.
class Seen {
 public:
  /// @param most things that are added.
  explicit Seen(index_t most)
      : shift_(63 - std::bit_width(static_cast<std::uint64_t>(most))),
        numbers_(std::size_t{1} << (64 - shift_), none) {}

  /// True if same(m) is false for all things m seen before that share the hash; then this one is seen, too.
  template <class Same>
  [[nodiscard]] bool add(std::uint64_t hash, index_t number, const Same& same) {
    std::size_t at = (hash * 0x9e3779b97f4a7c15U) >> shift_;
    for (; numbers_[at] != none; at = (at + 1) % numbers_.size())
      if (same(numbers_[at])) return false;
    numbers_[at] = number;
    return true;
  }

 private:
  static constexpr index_t none = -1;
  int shift_;
  std::vector<index_t> numbers_;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
