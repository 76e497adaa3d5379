// (A + A^H) / 2 in the place of a matrix that is Hermitian to rounding, or is taken so by name.
#pragma once

#include <string>

#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"

namespace ts::inline v0::solvers {

/// A square A becomes (A + A^H) / 2, exactly Hermitian; entries that agree keep their bits. In place; of a sparse A
/// where an entry has no mirror image a new one with the pattern of both is made.
template <class T>
void take_hermitian_part(AnyMatrix<T>& a);

/// Rows of A become those of (A + A^H) / 2, with the bits that one rank gives them.
/// @param partners rows of A^T with the same numbers, sparse or dense as those of A
template <class T>
void take_hermitian_part(AnyMatrix<T>& rows, const AnyMatrix<T>& partners);

/// A sentence on what was dropped; empty where nothing was and nobody asked for it.
/// @param by_name `symmetrise` was given.
[[nodiscard]] std::string text_of(const SkewPart& dropped, const std::string& name, bool by_name);

/// How far the matrices of a problem are from what rounding made of them: norms of the skew parts that were dropped.
struct Dropped {
  double matrix = 0, mass = 0;
};

/// Adds to error bounds and vector_errors what was dropped: eigenvalues move by its norm at most (Weyl), those of a
/// pencil by (||E_A|| + |lambda| ||E_M||) x^H x to first order, and the sine of an angle by norm / gap.
/// @param pencil vectors are M-orthonormal
template <class T>
void count_dropped(const Context&, Dropped, bool pencil, EigenResult<T>& result);

}  // namespace ts::inline v0::solvers
