// Work on all rows that rank 0 does alone, while the others wait.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::inline v0::solvers {

[[nodiscard]] inline bool is_first(const Context& ctx) { return ctx.communicator->rank() == 0; }

/// Calls work() on rank 0, while the others sleep. An Error of it all ranks throw, as of agreed().
void first_alone(const Context& ctx, const std::function<void()>& work);

/// The value of rank 0, on all ranks.
template <class T>
[[nodiscard]] T of_first(const Context& ctx, const T& here) {
  struct Value {
    T value;
  };
  const Value mine{here};
  return gather_lists<Value>(ctx, std::span(&mine, is_first(ctx) ? 1 : 0)).front().value;
}

/// On rank 0 all rows of a block, n x p, of which each rank has those of its slab; elsewhere 0 x p.
template <class T>
[[nodiscard]] Matrix<T> gathered_rows(const Context& ctx, HostView<const T> x);
/// The way back: Y = the rows of this rank's slab. @param all n x p on rank 0; not read elsewhere
template <class T>
void scatter_rows(const Context& ctx, const Matrix<T>& all, HostView<T> y);

/// On rank 0 a whole sparse matrix, or its values alone, of which each rank has its rows; elsewhere one without rows.
/// @param own with column numbers of the whole
template <class T>
[[nodiscard]] CsrMatrix<T> gathered_matrix(const Context& ctx, const CsrView<T>& own);
template <class T>
[[nodiscard]] std::vector<T> gathered_values(const Context& ctx, const CsrView<T>& own);

}  // namespace ts::inline v0::solvers
