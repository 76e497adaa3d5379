#include "tallskinny/io/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "tallskinny/gemm/runtime/parallel.hpp"

namespace ts::io {

namespace {

constexpr std::uint64_t odd = 0x9fb21c651e98df25u;
constexpr std::size_t lanes = 8, block = 8 * lanes;

std::uint64_t step(std::uint64_t h, std::uint64_t word) noexcept { return std::rotl(h ^ word, 29) * odd; }

}  // namespace

Hash& Hash::add(const void* data, std::size_t bytes) noexcept {
  const auto* from = static_cast<const unsigned char*>(data);
  std::uint64_t h[lanes], word[lanes];
  for (std::size_t j = 0; j < lanes; ++j) h[j] = odd * (j + 1);
  std::size_t left = bytes;
  for (; left >= block; left -= block, from += block) {
    std::memcpy(word, from, block);
    for (std::size_t j = 0; j < lanes; ++j) h[j] = step(h[j], word[j]);
  }
  std::fill(word, word + lanes, 0);
  if (left > 0) std::memcpy(word, from, left);
  value_ = step(value_, bytes);
  for (std::size_t j = 0; j < lanes; ++j) value_ = step(value_, step(h[j], word[j]));
  value_ ^= value_ >> 32;
  return *this;
}

std::uint64_t hash_of(const void* data, std::size_t bytes, int threads) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  const auto* from = static_cast<const unsigned char*>(data);
  std::vector<std::uint64_t> of_pieces((bytes + piece - 1) / piece);
  const auto team = static_cast<int>(std::clamp<index_t>(std::ssize(of_pieces) / 4, 1, std::max(1, threads)));
  parallel_for(team, std::ssize(of_pieces), [&](index_t number) {
    const auto p = static_cast<std::size_t>(number);
    of_pieces[p] = Hash().add(from + p * piece, std::min(piece, bytes - p * piece)).value();
  });
  return Hash().add(std::uint64_t{bytes}).add(std::span<const std::uint64_t>(of_pieces)).value();
}

}  // namespace ts::io
