// A - sigma M entry by entry. For the .cpp files of this folder alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers::detail {

/// The largest absolute row sum: not below ||A||_2 of a Hermitian A.
template <class T>
double row_sum_norm(CsrView<T> a) {
  std::vector<double> sums(at(a.rows));
  for_each_entry(a, [&](index_t i, index_t, const T& x) { sums[at(i)] += std::abs(x); });
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

/// Row by row the entries of A and of M on the union of their patterns, which has all of the diagonal.
template <class T>
class ShiftedMatrix {
 public:
  ShiftedMatrix(CsrView<T> a, CsrView<T> mass) {
    struct Entry {
      std::int32_t column;
      T of_a, of_mass;
    };
    std::vector<Entry> row;
    matrix_.rows = matrix_.cols = a.rows;
    for (index_t i = 0; i < a.rows; ++i) {
      row.assign(1, {static_cast<std::int32_t>(i), T{}, T{mass.rows == 0 ? 1.0 : 0.0}});
      for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) row.push_back({a.indices[e], a.values[e], T{}});
      for (index_t e = mass.rows == 0 ? 0 : mass.pointers[i]; mass.rows != 0 && e < mass.pointers[i + 1]; ++e)
        row.push_back({mass.indices[e], T{}, mass.values[e]});
      std::stable_sort(row.begin(), row.end(), [](const Entry& x, const Entry& y) { return x.column < y.column; });
      for (const Entry& entry : row) {
        const bool again = static_cast<index_t>(matrix_.indices.size()) > matrix_.pointers.back() &&
                           matrix_.indices.back() == entry.column;
        if (!again) matrix_.indices.push_back(entry.column), of_a_.push_back(T{}), of_mass_.push_back(T{});
        of_a_.back() += entry.of_a, of_mass_.back() += entry.of_mass;
      }
      matrix_.pointers.push_back(static_cast<index_t>(matrix_.indices.size()));
    }
    matrix_.values.resize(matrix_.indices.size());
  }

  /// A - sigma M, until the next call.
  CsrView<T> at_shift(T sigma) {
    for (std::size_t e = 0; e < of_a_.size(); ++e) matrix_.values[e] = of_a_[e] - sigma * of_mass_[e];
    return matrix_.view();
  }
  [[nodiscard]] index_t rows() const noexcept { return matrix_.rows; }

 private:
  CsrMatrix<T> matrix_;
  std::vector<T> of_a_, of_mass_;
};

}  // namespace ts::solvers::detail
