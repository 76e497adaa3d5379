// A - sigma M entry by entry. For the .cpp files of this folder alone.
#pragma once

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers::detail {

/// Row by row the entries of A and of M on the union of their patterns, which has all of the diagonal. Of matrices by
/// rows, which begin with row `first`, those rows.
template <class T>
class ShiftedMatrix {
 public:
  ShiftedMatrix(CsrView<T> a, CsrView<T> mass, index_t first = 0) {
    struct Entry {
      std::int32_t column;
      T of_a, of_mass;
    };
    std::vector<Entry> row;
    matrix_.rows = a.rows, matrix_.cols = a.cols;
    for (index_t i = 0; i < a.rows; ++i) {
      row.assign(1, {static_cast<std::int32_t>(first + i), T{}, T{mass.cols == 0 ? 1.0 : 0.0}});
      for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) row.push_back({a.indices[e], a.values[e], T{}});
      for (index_t e = mass.cols == 0 ? 0 : mass.pointers[i]; mass.cols != 0 && e < mass.pointers[i + 1]; ++e)
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

}  // namespace ts::inline v0::solvers::detail
