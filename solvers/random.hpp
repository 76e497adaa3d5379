// Random numbers as a pure function of (seed, stream, counter): row i draws the same number whatever the
// number of threads, blocks or ranks, and in whatever order the rows are visited.
#pragma once

#include <array>
#include <cstdint>

namespace ts::solvers {

/// Philox4x32-10: ten rounds of two 32 x 32 -> 64 bit products over a 128-bit counter under a 64-bit key.
/// Source: Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32_10(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;  // the golden ratio
    key[1] += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}

/// The numbers of one seed and one stream. Streams separate uses (a restart, an iteration, a column) that
/// would otherwise draw the same numbers for the same row.
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : key_{low(seed), high(seed)}, stream_{low(stream), high(stream)} {}

  /// 128 random bits.
  [[nodiscard]] constexpr std::array<std::uint32_t, 4> block(std::uint64_t counter) const noexcept {
    return philox4x32_10({low(counter), high(counter), stream_[0], stream_[1]}, key_);
  }
  /// 64 random bits.
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t counter) const noexcept {
    const auto r = block(counter);
    return std::uint64_t{r[1]} << 32 | r[0];
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] constexpr double uniform(std::uint64_t counter) const noexcept {
    return static_cast<double>(bits(counter) >> 11) * 0x1p-53;
  }
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
  /// A standard normal: the first of normal2.
  [[nodiscard]] double normal(std::uint64_t counter) const noexcept { return normal2(counter)[0]; }

 private:
  static constexpr std::uint64_t mask = 0xffffffffu;
  static constexpr std::uint32_t low(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) noexcept {
    return static_cast<std::uint32_t>(x >> 32);
  }

  std::array<std::uint32_t, 2> key_, stream_;
};

}  // namespace ts::solvers
