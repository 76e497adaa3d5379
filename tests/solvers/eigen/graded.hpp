// A tridiagonal matrix whose rows differ by many orders, and exact counts of its eigenvalues.
#pragma once

#include <cmath>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"

namespace ts::test {

struct Graded {
  CsrMatrix<double> matrix;
  std::vector<double> diagonal, beside;

  /// Eigenvalues below x, by a Sturm sequence: exact but for the last digit of each element.
  [[nodiscard]] index_t below(double x) const {
    double pivot = 1;
    index_t count = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = diagonal[i] - x - (i > 0 ? beside[i - 1] * beside[i - 1] / pivot : 0);
      count += pivot < 0 ? 1 : 0;
    }
    return count;
  }
};

/// D T D with T = tridiag(-1, 2.3, -1) and D from 10^-orders to 10^orders: n eigenvalues from 10^(-2 orders) on.
inline Graded graded_tridiagonal(index_t n, double orders) {
  const auto d = [=](index_t i) {
    return std::pow(10.0, orders * (2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1));
  };
  Graded g;
  g.matrix.rows = g.matrix.cols = n;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; ++j) {
      g.matrix.indices.push_back(static_cast<std::int32_t>(j));
      g.matrix.values.push_back((i == j ? 2.3 : -1.0) * d(i) * d(j));
      if (j == i) g.diagonal.push_back(g.matrix.values.back());
      if (j == i + 1) g.beside.push_back(g.matrix.values.back());
    }
    g.matrix.pointers.push_back(static_cast<index_t>(g.matrix.indices.size()));
  }
  return g;
}

}  // namespace ts::test
