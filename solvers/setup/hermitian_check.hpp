// Whether a matrix is Hermitian, to rounding.
#pragma once

#include <string>

#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/setup/any_matrix.hpp"

namespace ts::inline v0::solvers {

/// What an error adds, of a matrix with one triangle and of one with entries that differ: what takes such a matrix.
struct HermitianAdvice {
  const char* of_triangle = "";
  const char* of_entries = "";
};

/// Whether a square matrix differs from a Hermitian one, though by no more than rounding in the type in which its
/// entries were stored. Columns of a sparse one rise within each row.
/// @param name of the matrix, for the sentence
/// @throws Error(bad_input) naming the first entry whose mirror image is another.
template <class T>
bool check_hermitian(const Context&, const std::string& name, DType type, const AnyView<T>& a, HermitianAdvice = {});

/// The same of rows that are distributed over the ranks of ctx, which call it together and throw alike.
/// @param partners rows of the transposed matrix with the same numbers
template <class T>
bool check_hermitian_rows(const Context& ctx, const std::string& name, DType type, const AnyView<T>& rows,
                          const AnyView<T>& partners, HermitianAdvice = {});

}  // namespace ts::inline v0::solvers
