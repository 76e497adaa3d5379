// Matrices whose rows are shared out to ranks, which are threads.
#pragma once

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/tests/support/operands.hpp"
#include "tallskinny/tests/support/ranks.hpp"

namespace ts::test {

/// n x n, the columns of row i those of columns(i), ascending.
template <class T, class Columns>
CsrMatrix<T> with_columns(index_t n, const Columns& columns) {
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
    std::vector<index_t> row = columns(i);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const index_t j : row)
      add(j, element<T>(1.0 / static_cast<double>(3 + (7 * i + 11 * j) % 101),
                        0.1 * static_cast<double>((i + j) % 7) - 0.3));
  });
}

inline std::vector<index_t> no_columns(index_t) { return {}; }

/// Random columns anywhere; every fifth row is empty.
template <class T>
CsrMatrix<T> scattered(index_t n) {
  return with_columns<T>(n, [n](index_t i) {
    std::vector<index_t> row;
    std::uint64_t state = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u + 1;
    for (index_t k = 0; i % 5 != 0 && k < i % 13; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      row.push_back(static_cast<index_t>(state >> 33) % n);
    }
    return row;
  });
}

/// A grid, 11 x 13 points a plane.
template <class T>
CsrMatrix<T> grid(index_t planes) {
  const CsrMatrix<double> l = generators::laplacian({planes, 11, 13});
  CsrMatrix<T> a{l.rows, l.cols, l.pointers, l.indices, {l.values.begin(), l.values.end()}};
  change_entries(a, [](index_t i, index_t j, T& x) {
    const double uneven = 0.01 * static_cast<double>((i + 2 * j) % 5);
    x += element<T>(uneven, uneven);
  });
  return a;
}

/// A band, and row `hub` with an entry in every column.
template <class T>
CsrMatrix<T> with_hub(index_t n, index_t hub) {
  return with_columns<T>(n, [=](index_t i) {
    std::vector<index_t> row{i, std::max<index_t>(i - 1, 0), std::min(i + 2, n - 1)};
    if (i == hub) row.resize(static_cast<std::size_t>(n)), std::iota(row.begin(), row.end(), 0);
    return row;
  });
}

}  // namespace ts::test
