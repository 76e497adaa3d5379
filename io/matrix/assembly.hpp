// Builds a CsrMatrix that keeps its invariants from lists read in a file: the checks and conversions that all sparse
// formats share.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

/// The half of a matrix that a file holds, with the diagonal; none: it holds all.
enum class Triangle { none, lower, upper };

/// Names of the matrix and its lines in error messages, and which faults are tolerated.
struct Subject {
  std::string name;         ///< "file.h5:/A"
  bool by_columns = false;  ///< lines are columns
  bool accept_unsorted = false;
  index_t first_line = 0;  ///< number of the first line that is read
};

/// Checks row pointers: pointers[0] = 0, never decreasing, ending at `entries`.
/// @param lines -1: these are the pointers of all lines; else of some out of `lines`, from subject.first_line on.
void check_pointers(const std::vector<index_t>& pointers, index_t entries, const Subject& subject, index_t lines = -1);

/// Column numbers in range, increasing within every row; sorts and adds up if the subject accepts that.
template <class T>
void check_lines(CsrMatrix<T>& lines, const Subject& subject);

template <class T>
[[nodiscard]] CsrMatrix<T> transposed(CsrMatrix<T> a);

/// Checks one entry of a matrix stored as a triangle. @throws as check_triangle.
template <class T>
void check_triangle_entry(index_t i, index_t j, T value, Structure structure, Triangle triangle,
                          const Subject& subject);
/// Checks lines that hold a triangle of the matrix, from subject.first_line on.
/// @throws for an entry in the other triangle, a diagonal that is not real (hermitian) or not zero (skew-symmetric).
template <class T>
void check_triangle(const CsrMatrix<T>& a, Structure structure, Triangle triangle, const Subject& subject);
/// The whole matrix of which `a` holds one triangle. @throws as check_triangle.
template <class T>
[[nodiscard]] CsrMatrix<T> mirrored(CsrMatrix<T> a, Structure structure, Triangle triangle, const Subject& subject);

/// The mirror image of an entry under a structure.
template <class T>
[[nodiscard]] T mirror_image(T value, Structure structure) {
  if (structure == Structure::skew_symmetric) return -value;
  if constexpr (is_complex<T>)
    if (structure == Structure::hermitian) return std::conj(value);
  return value;
}
/// True if the diagonal of such a matrix may have this value.
template <class T>
[[nodiscard]] bool fits_diagonal(T value, Structure structure) {
  return value == mirror_image(value, structure);
}

/// A matrix of entries in any order; those of a row keep it. each(put) calls put(row, column, value) for all of them,
/// and is called twice.
template <class T, class Each>
[[nodiscard]] CsrMatrix<T> gathered(index_t rows, index_t cols, const Each& each) {
  CsrMatrix<T> a;
  a.rows = rows, a.cols = cols;
  a.pointers.assign(static_cast<std::size_t>(rows) + 1, 0);
  each([&](index_t i, index_t, const T&) { ++a.pointers[static_cast<std::size_t>(i) + 1]; });
  std::partial_sum(a.pointers.begin(), a.pointers.end(), a.pointers.begin());
  std::vector<index_t> next(a.pointers.begin(), a.pointers.end() - 1);
  a.indices.resize(static_cast<std::size_t>(a.pointers.back()));
  a.values.resize(a.indices.size());
  each([&](index_t i, index_t j, const T& value) {
    const index_t at = next[static_cast<std::size_t>(i)]++;
    a.indices[at] = static_cast<std::int32_t>(j), a.values[at] = value;
  });
  return a;
}

/// Rows begin .. end - 1.
template <class T>
[[nodiscard]] CsrMatrix<T> row_slice(CsrMatrix<T> a, index_t begin, index_t end);

/// @throws Error(bad_input) naming the row and column of the first NaN or Inf in these lines.
template <class T>
void check_finite(const CsrMatrix<T>& lines, const Subject& subject);
/// Checks that all elements are finite; row numbers in messages are counted from `first_row`.
template <class T>
void check_finite(HostView<const T> a, index_t first_row, const std::string& name);

}  // namespace ts::inline v0::io
