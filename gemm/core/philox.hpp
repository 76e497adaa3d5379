// Random numbers as a pure function of key and counter.
#pragma once

#include <array>
#include <cstdint>
#include <numbers>

namespace ts::inline v0 {

/// Philox4x32-10: ten rounds of two 32 x 32 -> 64 bit products over a 128-bit counter under a 64-bit key.
/// Source: Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                                   std::array<std::uint32_t, 2> key) noexcept {
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

/// The numbers of one key and one stream.
struct Philox {
  std::uint64_t key = 0, stream = 0;

  /// 128 random bits.
  [[nodiscard]] constexpr std::array<std::uint32_t, 4> block(std::uint64_t counter) const noexcept {
    return philox4x32_10({low(counter), high(counter), low(stream), high(stream)}, {low(key), high(key)});
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

 private:
  static constexpr std::uint32_t low(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x >> 32); }
};

/// A number of mean 0 and variance 1 that is nearly normal: the sum of four uniform ones, of density 0.385
/// around 0 (a normal one: 0.399), and never 0. Integers and one product.
[[nodiscard]] constexpr double near_normal(const Philox& random, std::uint64_t counter) noexcept {
  const auto r = random.block(counter);
  const std::uint64_t sum = std::uint64_t{r[0]} + r[1] + r[2] + r[3];
  const auto odd = static_cast<std::int64_t>(2 * sum) - ((std::int64_t{1} << 34) - 5);
  return static_cast<double>(odd) * (std::numbers::sqrt3 * 0x1p-33);
}

}  // namespace ts::inline v0
