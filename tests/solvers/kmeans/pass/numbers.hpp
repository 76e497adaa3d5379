// Sums of clusters as numbers that tests compare.
#pragma once

#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"

namespace ts::test {

/// Rows, weight and exact sums of each cluster.
inline std::vector<double> numbers_of(const ClusterSums& sums, const FixedPoint& unit) {
  std::vector<double> numbers;
  for (index_t m = 0; m < sums.clusters(); ++m) {
    numbers.push_back(static_cast<double>(sums.count(m)));
    numbers.push_back(sums.weight(unit, m));
    for (index_t j = 0; j < sums.cols(); ++j) {
      const Twofold sum = sums.exact_sum(unit, m, j);
      numbers.push_back(sum.hi), numbers.push_back(sum.lo);
    }
  }
  return numbers;
}

}  // namespace ts::test
