// CHOLMOD: Chen, Davis, Hager and Rajamanickam 2008. For the .cpp files of this folder alone.
#pragma once

#include <optional>

#include "tallskinny/solvers/direct/cholesky.hpp"
#include "tallskinny/solvers/direct/eigen_sparse.hpp"

namespace ts::inline v0::solvers {

/// Nothing where CHOLMOD or the BLAS is not there, or where CHOLMOD says that single columns do as well as blocks;
/// null unless M is positive definite.
/// @param columns M by columns.
/// @throws Error(out_of_memory)
template <class T>
[[nodiscard]] std::optional<std::unique_ptr<CholeskyFactor<T>>> factorise_by_cholmod(CsrView<T> m,
                                                                                     const detail::Sparse<T>& columns);

}  // namespace ts::inline v0::solvers
