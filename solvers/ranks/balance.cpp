#include "tallskinny/solvers/ranks/balance.hpp"

#include <algorithm>
#include <compare>
#include <numeric>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::solvers {

std::vector<index_t> entries_of_units(std::span<const index_t> pointers, index_t unit) {
  expects(!pointers.empty() && unit > 0, "row pointers are one more than rows, and units have rows");
  const index_t rows = std::ssize(pointers) - 1;
  std::vector<index_t> entries;
  for (index_t i = 0; i < rows; i += unit)
    entries.push_back(pointers[static_cast<std::size_t>(std::min(rows, i + unit))] -
                      pointers[static_cast<std::size_t>(i)]);
  return entries;
}

index_t most_entries(const RowSlabs& slabs, std::span<const index_t> entries) {
  const index_t unit = row_unit(slabs.rows());
  index_t most = 0;
  for (int r = 0; r < slabs.slabs(); ++r) {
    const auto begin = entries.begin() + slabs.begin(r) / unit, end = begin + (slabs.rows(r) + unit - 1) / unit;
    most = std::max(most, std::accumulate(begin, end, index_t{0}));
  }
  return most;
}

RowSlabs balanced_slabs(index_t rows, std::span<const index_t> entries, int slabs) {
  const index_t unit = row_unit(rows);
  const auto units = static_cast<std::size_t>((rows + unit - 1) / unit);
  expects(slabs >= 1 && entries.size() == units &&
              std::all_of(entries.begin(), entries.end(), [](index_t e) { return e >= 0; }),
          "balanced slabs: there must be a slab or more, and a number of entries for each unit of rows");
  struct Cost {
    index_t largest = 0;
    double squares = 0;
    auto operator<=>(const Cost&) const = default;
  };
  // best[u]: of the first u units in the slabs so far; from[s][u]: where the last of s + 1 slabs begins.
  std::vector<Cost> best(units + 1);
  std::vector<std::vector<std::size_t>> from(static_cast<std::size_t>(slabs), std::vector<std::size_t>(units + 1, 0));
  for (std::size_t s = 0; s < from.size(); ++s) {
    const std::vector<Cost> before = best;
    for (std::size_t end = 0; end <= units; ++end) {
      index_t mine = 0;
      for (std::size_t begin = end;; --begin) {
        if (s > 0 || begin == 0) {
          const auto size = static_cast<double>(mine);
          const Cost cost = s == 0 ? Cost{mine, size * size}
                                   : Cost{std::max(before[begin].largest, mine), before[begin].squares + size * size};
          if (begin == end || s == 0 || cost < best[end]) best[end] = cost, from[s][end] = begin;
        }
        if (begin == 0) break;
        mine += entries[begin - 1];
      }
    }
  }
  std::vector<index_t> begins = {rows};
  std::size_t end = units;
  for (std::size_t s = from.size(); s-- > 0;) {
    end = from[s][end];
    begins.push_back(std::min(rows, static_cast<index_t>(end) * unit));
  }
  std::reverse(begins.begin(), begins.end());
  return RowSlabs(std::move(begins));
}

std::optional<RowSlabs> fairer_slabs(const RowSlabs& slabs, std::span<const index_t> entries) {
  RowSlabs balanced = balanced_slabs(slabs.rows(), entries, slabs.slabs());
  const auto most = [&](const RowSlabs& of) { return static_cast<double>(most_entries(of, entries)); };
  if (most(balanced) > 0.9 * most(slabs)) return std::nullopt;
  return balanced;
}

}  // namespace ts::inline v0::solvers
