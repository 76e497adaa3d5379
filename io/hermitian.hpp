// Compares a matrix with its declared structure: exactly, entry by entry, in both directions.
#pragma once

#include <optional>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

/// The first entry (row by row) that breaks a structure.
struct Asymmetry {
  index_t row = 0, col = 0;
};

/// The first entry (i, j) with a_ij != a_ji (symmetric), != conj(a_ji) (hermitian) or != -a_ji
/// (skew_symmetric); nothing if there is none. A missing entry is zero. Columns of each row must be sorted
/// and free of duplicates, as read_matrix returns them; a matrix that is not square breaks at its last row
/// and column. Cost: one pass, rows x 8 bytes. T: double, float and their complex types.
template <class T>
[[nodiscard]] std::optional<Asymmetry> first_asymmetry(CsrView<T> a, Structure structure);

/// The first pair of entries of a dense matrix that do not mirror each other. Goes in blocks that stay in cache. T: any
/// of the six types.
template <class T>
[[nodiscard]] std::optional<Asymmetry> first_asymmetry(HostView<const T> a, Structure structure);

template <class T>
[[nodiscard]] bool is_hermitian(CsrView<T> a) {
  return !first_asymmetry(a, Structure::hermitian);
}
template <class T>
[[nodiscard]] bool is_hermitian(HostView<const T> a) {
  return !first_asymmetry(a, Structure::hermitian);
}

}  // namespace ts::inline v0::io
