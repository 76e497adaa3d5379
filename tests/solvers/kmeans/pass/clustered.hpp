// Rows with labels, and the sums of their clusters.
#pragma once

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/kmeans/pass/pass.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

struct Case {
  index_t n, d, k;
  double offset = 0, factor = 1;
  bool weighted = false;
};

/// Rows, weights, and sums of rows whose labels are any of the first k - 1.
struct Clustered {
  Matrix<double> x;
  std::vector<double> weights;
  std::vector<std::int32_t> labels;
  ColumnMoments moments;
  FixedPoint unit;
  ClusterSums sums;

  explicit Clustered(const Case& c)
      : x(c.n, c.d),
        moments(column_moments({}, fill(c))),
        unit(moments.max_abs, c.weighted ? 3 : 1, c.n),
        sums(c.k, c.d) {
    add_rows({}, Rows(x.cview()), moments, labels, weights, unit, sums);
  }

 private:
  Rows fill(const Case& c) {
    for (index_t i = 0; i < c.n; ++i) {
      labels.push_back(static_cast<std::int32_t>(i * 7 % std::max<index_t>(1, c.k - 1)));
      const Philox numbers{11, static_cast<std::uint64_t>(i)};
      if (c.weighted) weights.push_back(3 * numbers.uniform(std::uint64_t{1} << 40));
      for (index_t j = 0; j < c.d; ++j)
        x(i, j) = c.offset + c.factor * (2 * numbers.uniform(static_cast<std::uint64_t>(j)) - 1);
    }
    return {x.cview()};
  }
};

inline Matrix<double> centres(const Case& c) {
  Matrix<double> out(c.k, c.d);
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d; ++j) out(m, j) = c.offset + c.factor * std::sin(static_cast<double>(m * c.d + j));
  return out;
}

inline bool same(HostView<const double> a, HostView<const double> b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data());
}

}  // namespace ts::test
