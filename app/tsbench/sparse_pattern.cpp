#include "tallskinny/app/tsbench/operands.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/gemm/runtime/processors.hpp"

namespace ts::bench {

namespace {

constexpr index_t band_width = 17, random_count = 16, block_rows = 64, least_block = 4, block_kinds = 6;
constexpr double graph_mean = 16, graph_power = 0.8;  // the row of rank r has r^-0.8 times as many entries as the first

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): evenly spread numbers from consecutive ones.
std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
/// In [0, 1).
double uniform_of(std::uint64_t key) noexcept { return static_cast<double>(mixed(key) >> 11) * 0x1p-53; }

}  // namespace

std::string_view name_of(Pattern kind) noexcept {
  constexpr std::string_view names[] = {"stencil", "band", "random", "graph", "blocks"};
  return names[static_cast<std::size_t>(kind)];
}

double SparsePattern::entries_a_row(Pattern kind) noexcept {
  constexpr double mean_block = least_block * ((1 << block_kinds) - 1) / static_cast<double>(block_kinds);
  constexpr double means[] = {7, band_width, random_count, graph_mean, mean_block};
  return means[static_cast<std::size_t>(kind)];
}

SparsePattern SparsePattern::of(Pattern kind, index_t rows) {
  SparsePattern pattern{kind, rows, {}};
  std::vector<index_t> pointers(static_cast<std::size_t>(rows) + 1);
  parallel_for(default_threads(), rows,
               [&](index_t i) { pointers[static_cast<std::size_t>(i) + 1] = pattern.length_of(i); });
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  pattern.pointers = std::make_shared<const std::vector<index_t>>(std::move(pointers));
  return pattern;
}

SparsePattern SparsePattern::of_rows(Pattern kind, double rows) {
  if (kind != Pattern::stencil) return of(kind, std::max(least_rows, static_cast<index_t>(rows)));
  const auto side = std::max<index_t>(1, static_cast<index_t>(std::cbrt(rows)));
  return of(kind, side * side * side);
}

index_t SparsePattern::side() const { return static_cast<index_t>(std::llround(std::cbrt(static_cast<double>(rows)))); }

index_t SparsePattern::length_of(index_t i) const {
  switch (kind) {
    case Pattern::stencil: {
      const index_t s = side();
      const auto beside = [s](index_t x) { return (x > 0) + (x + 1 < s); };
      return 1 + beside(i % s) + beside(i / s % s) + beside(i / s / s);
    }
    case Pattern::band: return band_width;
    case Pattern::random: return random_count;
    case Pattern::graph: {  // of a rank anywhere among the rows
      const double rank = std::max(uniform_of(static_cast<std::uint64_t>(i)), 1 / static_cast<double>(rows));
      return std::llround(graph_mean * (1 - graph_power) * std::pow(rank, -graph_power));
    }
    case Pattern::blocks:
      return std::min(rows, least_block << (mixed(static_cast<std::uint64_t>(i / block_rows)) % block_kinds));
  }
  return 0;
}

index_t SparsePattern::column(index_t i, index_t first, index_t k, index_t count) const {
  const auto key = static_cast<std::uint64_t>(first + k);
  if (kind == Pattern::band) return std::clamp<index_t>(i - band_width / 2, 0, rows - band_width) + k;
  if (kind == Pattern::blocks) return std::min(i / block_rows * block_rows, rows - count) + k;
  if (kind == Pattern::random) {  // one in each sixteenth of the columns
    const index_t part = rows / random_count;
    return k * part + static_cast<index_t>(mixed(key) % static_cast<std::uint64_t>(part));
  }
  // A rank by the same law as the rows', and the column of this rank: somewhere.
  const double u = uniform_of(key);
  const auto rank = static_cast<std::uint64_t>(u * u * u * u * u * static_cast<double>(rows));
  return static_cast<index_t>(mixed(rank) % static_cast<std::uint64_t>(rows));
}

SparseFacts facts_of(const SparsePattern& pattern) {
  const index_t* const pointers = pattern.pointers->data();
  SparseFacts facts = cuda::facts_of_rows(pointers, pattern.rows, cuda::cut_rows(pointers, pattern.rows));
  facts.scattered = cuda::ColumnSample::scattered(pattern.rows, [&](index_t i, auto&& add) { pattern.row(i, add); });
  return facts;
}

template <class T>
CsrMatrix<T> sparse_matrix(const SparsePattern& pattern) {
  CsrMatrix<T> a;
  a.rows = a.cols = pattern.rows;
  a.pointers = *pattern.pointers;
  a.indices.resize(static_cast<std::size_t>(pattern.entries())), a.values.resize(a.indices.size());
  parallel_for(default_threads(), a.rows, [&](index_t i) {
    auto entry = static_cast<std::size_t>(pattern.first_entry(i));
    pattern.row(i, [&](index_t column) {
      a.indices[entry] = static_cast<std::int32_t>(column);
      a.values[entry] = value_at<T>(entry + 1), ++entry;
    });
  });
  return a;
}
TS_FOR_EACH_TYPE(TS_FUNCTION, sparse_matrix)

}  // namespace ts::bench
