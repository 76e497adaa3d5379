// Feature sets with known groups: every row is a pure function of (seed, row), so that any part of a set of
// any size can be made anywhere, in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::generators {

/// Gaussian blobs: row i is centre[label(i)] + spread * standard normals. Far from the origin when `offset`
/// is large, which is where distances computed by expanding (x - c)^2 lose their digits.
class Blobs {
 public:
  /// `k` centres uniform in a cube of edge 2 `box` around (offset, .., offset).
  /// @throws Error(invalid_argument) for negative sizes or k < 1.
  Blobs(index_t rows, index_t cols, index_t k, double spread, double box, double offset, std::uint64_t seed);

  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t cols() const noexcept { return centers_.cols(); }
  [[nodiscard]] const Matrix<double>& centers() const noexcept { return centers_; }
  /// The blob that row i was drawn from. The first k rows take the k blobs in turn, so none is empty.
  [[nodiscard]] std::int32_t label(index_t row) const;
  [[nodiscard]] std::vector<std::int32_t> labels() const;
  /// Fills `out` with the rows from `first_row` on, rounded from double once.
  template <class T>
  void fill(index_t first_row, HostView<T> out) const;

 private:
  index_t rows_;
  double spread_;
  std::uint64_t seed_;
  Matrix<double> centers_;
};

/// Rows uniform in the unit cube.
template <class T>
void fill_uniform(index_t first_row, std::uint64_t seed, HostView<T> out);

/// Rows that are exact copies of `distinct` points: row i is point duplicate_label(i). Points are those of
/// fill_uniform; the first `distinct` rows take them in turn.
template <class T>
void fill_duplicates(index_t first_row, index_t distinct, std::uint64_t seed, HostView<T> out);
[[nodiscard]] std::int32_t duplicate_label(index_t row, index_t distinct, std::uint64_t seed);

/// A whole set at once. T: any real element type.
template <class T>
Matrix<T> blobs(const Blobs& set);
template <class T>
Matrix<T> uniform(index_t rows, index_t cols, std::uint64_t seed);
template <class T>
Matrix<T> duplicates(index_t rows, index_t cols, index_t distinct, std::uint64_t seed);

}  // namespace ts::generators
