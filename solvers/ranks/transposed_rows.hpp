// Rows of the transposed of a sparse matrix whose rows are distributed over ranks.
#pragma once

#include <functional>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::solvers {

/// This rank's rows of A^T, with column numbers of the whole, ascending in every row; what stands twice stays so.
/// All ranks call it together. Memory: these rows, and on the way 8 bytes and an element for each entry that changes
/// ranks, twice.
/// @param own this rank's rows of a square A, with column numbers of the whole.
/// @throws Error(invalid_argument) unless ctx.slabs has as many rows as there are columns, and for this rank those of
/// `own`; also for column numbers beyond.
template <class T>
[[nodiscard]] CsrMatrix<T> transposed_rows(const Context& ctx, const CsrView<T>& own);

/// This rank's rows of the transpose of a distributed dense matrix. Memory: these rows, and during the exchange twice
/// those that change ranks.
template <class T>
[[nodiscard]] Matrix<T> transposed_rows(const Context& ctx, HostView<const T> own);

/// This rank's rows of the whole matrix of which `own` are rows of a triangle, ascending: beside each entry (i, j) off
/// the diagonal stands image(a_ij) at (j, i). They are what one rank has that reads the whole.
/// @throws as transposed_rows.
template <class T>
[[nodiscard]] CsrMatrix<T> mirrored_rows(const Context& ctx, const CsrView<T>& own, const std::function<T(T)>& image);

}  // namespace ts::inline v0::solvers
