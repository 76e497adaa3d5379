#include "tallskinny/io/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0::io {

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

namespace {

/// add(hash, begin, end) adds rows begin .. end - 1.
template <class Add>
std::vector<std::uint64_t> hashes_of_pieces(index_t rows, index_t unit, int threads, const Add& add) {
  expects(unit > 0, "pieces of rows to be hashed have no rows");
  std::vector<std::uint64_t> of_pieces(static_cast<std::size_t>((rows + unit - 1) / unit));
  parallel_for(threads, std::ssize(of_pieces), [&](index_t p) {
    Hash hash;
    add(hash, p * unit, std::min(rows, (p + 1) * unit));
    of_pieces[static_cast<std::size_t>(p)] = hash.value();
  });
  return of_pieces;
}

}  // namespace

template <class T>
std::vector<std::uint64_t> row_hashes(const CsrView<T>& a, index_t unit, int threads) {
  return hashes_of_pieces(a.rows, unit, threads, [&](Hash& hash, index_t begin, index_t end) {
    std::vector<index_t> entries;
    for (index_t i = begin; i < end; ++i) entries.push_back(a.pointers[i + 1] - a.pointers[i]);
    const index_t first = a.pointers[begin];
    const auto count = static_cast<std::size_t>(a.pointers[end] - first);
    hash.add(std::span<const index_t>(entries));
    hash.add(std::span<const std::int32_t>(a.indices + first, count)).add(std::span<const T>(a.values + first, count));
  });
}

template <class T>
std::vector<std::uint64_t> row_hashes(HostView<const T> a, index_t unit, int threads) {
  return hashes_of_pieces(a.rows(), unit, threads, [&](Hash& hash, index_t begin, index_t end) {
    for (index_t i = begin; i < end && a.cols() > 0; ++i)
      hash.add(std::span<const T>(&a(i, 0), static_cast<std::size_t>(a.cols())));
  });
}

#define TS_INSTANTIATE(T)                                                             \
  template std::vector<std::uint64_t> row_hashes<T>(const CsrView<T>&, index_t, int); \
  template std::vector<std::uint64_t> row_hashes<T>(HostView<const T>, index_t, int);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::io
