#include "tallskinny/solvers/setup/reorder.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <string>

#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/ranks/balance.hpp"
#include "tallskinny/solvers/ranks/row_shares.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// The graph of a matrix, and walks through it in breadth.
class Graph {
 public:
  Graph(index_t n, const index_t* pointers, const std::int32_t* indices)
      : pointers_(pointers), indices_(indices), seen_(at(n), 0) {}

  [[nodiscard]] index_t degree(index_t i) const { return pointers_[i + 1] - pointers_[i]; }
  [[nodiscard]] bool fewer(index_t a, index_t b) const {
    return degree(a) != degree(b) ? degree(a) < degree(b) : a < b;
  }

  /// Adds the part of the graph that `root` reaches to `order`, neighbours of few neighbours first. Rows of earlier
  /// walks of this number count as seen. @return where the last level begins, and how many levels there are.
  std::pair<std::size_t, index_t> walk(index_t root, int number, std::vector<index_t>& order) {
    std::size_t level = order.size(), next = level;
    index_t levels = 0;
    seen_[at(root)] = number, order.push_back(root);
    while (next < order.size()) {
      level = next, ++levels;
      for (const std::size_t end = order.size(); next < end; ++next) {
        const auto first = static_cast<std::ptrdiff_t>(order.size());
        for (index_t e = pointers_[order[next]]; e < pointers_[order[next] + 1]; ++e)
          if (const index_t j = indices_[e]; seen_[at(j)] != number) seen_[at(j)] = number, order.push_back(j);
        std::sort(order.begin() + first, order.end(), [this](index_t a, index_t b) { return fewer(a, b); });
      }
    }
    return {level, levels};
  }
  [[nodiscard]] bool seen(index_t i, int number) const { return seen_[at(i)] == number; }

 private:
  const index_t* pointers_;
  const std::int32_t* indices_;
  std::vector<int> seen_;  ///< by which walk
};

/// A row at an end of the part of the graph that `start` reaches (George and Liu 1979).
index_t end_row(Graph& graph, index_t start, int& walks) {
  index_t depth = 0;
  for (std::vector<index_t> reached;; reached.clear()) {
    const auto [last, levels] = graph.walk(start, ++walks, reached);
    if (levels <= depth) return start;
    depth = levels;
    start = *std::min_element(reached.begin() + static_cast<std::ptrdiff_t>(last), reached.end(),
                              [&](index_t a, index_t b) { return graph.fewer(a, b); });
  }
}

std::vector<index_t> cuthill_mckee(index_t n, const index_t* pointers, const std::int32_t* indices) {
  Graph finding(n, pointers, indices), ordering(n, pointers, indices);
  std::vector<index_t> order, starts(at(n));
  order.reserve(at(n));
  std::iota(starts.begin(), starts.end(), index_t{0});
  std::sort(starts.begin(), starts.end(), [&](index_t a, index_t b) { return finding.fewer(a, b); });
  int walks = 0;
  for (const index_t start : starts)
    if (!ordering.seen(start, 1)) (void)ordering.walk(end_row(finding, start, walks), 1, order);
  std::reverse(order.begin(), order.end());
  return order;
}

/// @throws Error(invalid_argument) for an empty list.
std::vector<int> expect_metis(std::vector<int> list, index_t n) {
  if (list.empty())
    throw Error(Errc::invalid_argument, "METIS (libmetis.so.5) was not found, or does not take a matrix of " +
                                            std::to_string(n) + " rows; reverse Cuthill-McKee needs no library");
  return list;
}

/// Parts of about as many rows as the slabs have, one after the other.
std::vector<index_t> order_of_parts(const RowSlabs& slabs, const index_t* pointers, const std::int32_t* indices) {
  std::vector<index_t> sizes;
  sizes.reserve(at(slabs.slabs()));
  for (int s = 0; s < slabs.slabs(); ++s) sizes.push_back(slabs.rows(s));
  const std::vector<int> part = expect_metis(parts_of_rows(slabs.rows(), pointers, indices, sizes), slabs.rows());
  std::vector<index_t> order = cuthill_mckee(slabs.rows(), pointers, indices);
  std::stable_sort(order.begin(), order.end(), [&](index_t i, index_t j) { return part[at(i)] < part[at(j)]; });
  return order;
}

}  // namespace

std::string_view name_of(Reordering kind) noexcept {
  constexpr std::string_view names[] = {"none", "rcm", "metis"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<index_t> order_of(Reordering kind, index_t n, const index_t* pointers, const std::int32_t* indices) {
  if (kind == Reordering::rcm) return cuthill_mckee(n, pointers, indices);
  std::vector<index_t> order(at(n));
  std::iota(order.begin(), order.end(), index_t{0});
  if (kind == Reordering::none) return order;
  const std::vector<int> positions = expect_metis(nested_dissection(n, pointers, indices), n);
  for (index_t i = 0; i < n; ++i) order[at(positions[at(i)])] = i;
  return order;
}

template <class T>
CsrMatrix<T> reordered(const CsrMatrix<T>& a, std::span<const index_t> order) {
  const bool pattern = a.values.empty();
  std::vector<std::int32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = static_cast<std::int32_t>(i);
  CsrMatrix<T> out;
  out.rows = a.rows, out.cols = a.cols;
  out.pointers.reserve(a.pointers.size()), out.indices.reserve(a.indices.size()), out.values.reserve(a.values.size());
  std::vector<std::pair<std::int32_t, T>> row;
  for (const index_t i : order) {
    row.clear();
    for (index_t e = a.pointers[at(i)]; e < a.pointers[at(i + 1)]; ++e)
      row.emplace_back(place[at(a.indices[at(e)])], pattern ? T{} : a.values[at(e)]);
    std::stable_sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (const auto& [column, value] : row) {
      out.indices.push_back(column);
      if (!pattern) out.values.push_back(value);
    }
    out.pointers.push_back(static_cast<index_t>(out.indices.size()));
  }
  return out;
}

std::vector<index_t> inverse_of(std::span<const index_t> order) {
  std::vector<index_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = static_cast<index_t>(i);
  return place;
}

RowSlabs unit_slabs(index_t rows) {
  const index_t unit = row_unit(rows);
  return RowSlabs::of_units(rows, static_cast<int>(std::max<index_t>(1, (rows + unit - 1) / unit)));
}

template <class T>
RanksOrder order_for_ranks(Reordering kind, const CsrMatrix<T>& a, const RowSlabs& now) {
  RanksOrder found;
  const RowSlabs units = unit_slabs(a.rows);
  if (kind == Reordering::metis)
    found.order = order_of_parts(units, a.pointers.data(), a.indices.data());
  else
    found.order = order_of(kind, a.rows, a.pointers.data(), a.indices.data());
  const CsrMatrix<T> other = reordered(a, found.order);
  const std::vector<index_t> entries = entries_of_units(other.pointers, row_unit(a.rows));
  found.slabs = RowSlabs::of_units(a.rows, now.slabs());
  found.slabs = fairer_slabs(found.slabs, entries).value_or(found.slabs);
  const auto sent = [](const CsrMatrix<T>& m, const RowSlabs& slabs) {
    return row_shares(m.view(), slabs).sent_bytes();
  };
  found.ranks = {sent(a, now), sent(other, found.slabs)};
  found.units = {sent(a, units), sent(other, units)};
  return found;
}

template <class T>
Locality locality_of(const CsrMatrix<T>& a, index_t columns_of_x) {
  Locality found;
  double distances = 0;
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[at(i)]; e < a.pointers[at(i + 1)]; ++e) {
      const index_t distance = std::abs(static_cast<index_t>(a.indices[at(e)]) - i);
      distances += static_cast<double>(distance);
      found.bandwidth = std::max(found.bandwidth, distance);
    }
  const auto entries = static_cast<double>(a.nonzeros()), rows = static_cast<double>(a.rows);
  if (entries > 0) found.mean_distance = distances / entries;
  found.scattered = cuda::ColumnSample::scattered(a.rows, [&](index_t i, auto&& add) {
    for (index_t e = a.pointers[at(i)]; e < a.pointers[at(i + 1)]; ++e) add(static_cast<index_t>(a.indices[at(e)]));
  });
  const double row_of_x = static_cast<double>(columns_of_x) * sizeof(T);
  found.product_bytes = entries * (sizeof(T) + sizeof(std::int32_t)) + 8 * rows + rows * row_of_x +
                        std::max(rows * row_of_x, entries * found.scattered / 100 * std::max(64.0, row_of_x));
  return found;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, reordered)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, order_for_ranks)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, locality_of)

}  // namespace ts::inline v0::solvers
