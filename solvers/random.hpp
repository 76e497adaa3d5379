// Random numbers as a pure function of (seed, stream, counter): row i draws the same number whatever the
// number of threads, blocks or ranks, and in whatever order the rows are visited.
#pragma once

#include <array>
#include <cstdint>

#include "tallskinny/gemm/core/philox.hpp"

namespace ts::inline v0::solvers {

/// The numbers of one seed and one stream. Streams separate uses (a restart, an iteration, a column) that
/// would otherwise draw the same numbers for the same row.
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept : philox_{seed, stream} {}

  /// 128 random bits.
  [[nodiscard]] constexpr std::array<std::uint32_t, 4> block(std::uint64_t counter) const noexcept {
    return philox_.block(counter);
  }
  /// 64 random bits.
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t counter) const noexcept { return philox_.bits(counter); }
  /// Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] constexpr double uniform(std::uint64_t counter) const noexcept { return philox_.uniform(counter); }
  /// Two independent uniforms in [0, 1) from one counter; the first is uniform(counter).
  [[nodiscard]] constexpr std::array<double, 2> uniform2(std::uint64_t counter) const noexcept {
    const auto r = block(counter);
    return {static_cast<double>((std::uint64_t{r[1]} << 32 | r[0]) >> 11) * 0x1p-53,
            static_cast<double>((std::uint64_t{r[3]} << 32 | r[2]) >> 11) * 0x1p-53};
  }
  /// A whole number in [0, n), n >= 1; no value is more likely than another by more than n / 2^64.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t n, std::uint64_t counter) const noexcept {
    const std::uint64_t r = bits(counter);
    const std::uint64_t middle = (r >> 32) * (n & mask) + ((r & mask) * (n & mask) >> 32);
    const std::uint64_t carry = ((r & mask) * (n >> 32) + (middle & mask)) >> 32;
    return (r >> 32) * (n >> 32) + (middle >> 32) + carry;  // the upper half of the product r n
  }
  /// Two independent standard normals from one counter (Box and Muller 1958).
  [[nodiscard]] std::array<double, 2> normal2(std::uint64_t counter) const noexcept;
  /// Where all of these come from.
  [[nodiscard]] constexpr const Philox& philox() const noexcept { return philox_; }
  /// A standard normal: the first of normal2.
  [[nodiscard]] double normal(std::uint64_t counter) const noexcept { return normal2(counter)[0]; }

 private:
  static constexpr std::uint64_t mask = 0xffffffffu;

  Philox philox_;
};

}  // namespace ts::inline v0::solvers
