// How far a matrix is from a Hermitian one, and whether rounding explains it.
#pragma once

#include <string>

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/setup/any_matrix.hpp"

namespace ts::inline v0::solvers {

/// (A - A^H) / 2, which hermitian_part() drops.
struct SkewPart {
  double largest = 0;      ///< |a_ij - conj(a_ji)| at most, as a share of the largest entry of A
  double norm = 0;         ///< its Frobenius norm: no eigenvalue of a matrix between A and A^H is farther away
  bool one_sided = false;  ///< an entry that is stored has a mirror image that is not

  [[nodiscard]] bool is_zero() const noexcept { return largest == 0; }
};

/// How strict skew_part() is.
struct HermitianRules {
  bool take_any = false;  ///< refuses no asymmetry
  /// Hints that an error adds, for a matrix with one triangle and for one with entries that differ.
  const char* of_triangle = "";
  const char* of_entries = "";
};

/// How far a square matrix is from a Hermitian one. Rounding explains what lies within half of the digits of the type,
/// which is what a reduction by a matrix of condition 1 / sqrt(eps) leaves: |a_ij - conj(a_ji)| may be
/// sqrt(eps) sqrt(r_i r_j), where r_i is the largest entry of row i, so that no entry passes because others far from it
/// are large. Products leave a few eps of the largest entry, or of a sparse matrix of the larger row, even in rows
/// that cancel. Columns of a sparse matrix rise within each row.
/// @param name of the matrix, for sentences
/// @param type in which entries were computed
/// @throws Error(bad_input) naming the first NaN or Inf; the first entry whose mirror image is another, unless
/// rules.take_any.
template <class T>
[[nodiscard]] SkewPart skew_part(const Context&, const std::string& name, DType type, const AnyView<T>& a,
                                 HermitianRules = {});

/// skew_part() of rows that are distributed over the ranks of ctx, which call it together, throw alike and get alike.
/// Memory: two bytes for each row of the whole.
/// @param partners rows of the transposed matrix with the same numbers
template <class T>
[[nodiscard]] SkewPart skew_part_of_rows(const Context& ctx, const std::string& name, DType type,
                                         const AnyView<T>& rows, const AnyView<T>& partners, HermitianRules = {});

/// @throws Error(bad_input) naming the first NaN or Inf, if there is one.
/// @param first number of the first row
template <class T>
void expect_finite(const std::string& name, const AnyView<T>& a, index_t first = 0);

}  // namespace ts::inline v0::solvers
