// Steps with a Cholesky factor that is stored by blocks of columns. For the .cpp files of this folder alone.
#pragma once

#include <cstdint>
#include <span>

#include "tallskinny/solvers/direct/cholesky.hpp"

namespace ts::inline v0::solvers {

/// L of P M P^T = L L^H by supernodes: neighbouring columns that have the same rows below them, stored densely.
template <class T>
struct Supernodes {
  using Numbers = std::span<const std::int64_t>;

  Numbers order;         ///< row order[i] of M is row i of P M P^T
  Numbers first_column;  ///< of each supernode, and n
  Numbers first_row;     ///< where the rows of each supernode begin in `rows`, and where the last one's end
  Numbers first_value;   ///< likewise in `values`
  Numbers rows;          ///< of a supernode of c columns: its own c, then those below, both rising
  const T* values;       ///< rows x columns of a supernode, by columns; above the diagonal stands anything
};

/// True if the machine has the BLAS that apply() calls.
template <class T>
[[nodiscard]] bool has_supernodes();

/// Y = step(X) by BLAS of one thread a block of columns of X; those are shared among threads.
/// @pre has_supernodes<T>()
template <class T>
void apply(const Context& ctx, const Supernodes<T>& factor, CholeskyStep step, HostView<const T> x, HostView<T> y);

}  // namespace ts::inline v0::solvers
