// The backends of DirectSolver. For the .cpp files of this folder alone.
#pragma once

#include "tallskinny/solvers/direct/direct_solver.hpp"

namespace ts::inline v0::solvers {

/// Null where there is no GPU or cuDSS is not there, or the factors do not fit on the GPU.
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_cudss(CsrView<T> a, FactorKind, const cuda::Stream&);

/// Null where MUMPS is not there.
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_mumps(CsrView<T> a, FactorKind,
                                                                const std::vector<int>& order);

/// On all ranks of Open MPI together; null where one of them does not have it.
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_mumps(const Context&, CsrView<T> own, FactorKind,
                                                                const std::vector<int>& order);

/// By rank 0, as it would all rows. @param order on rank 0
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_first_rank(const Context&, CsrView<T> own, FactorKind,
                                                                     DirectBackend, const std::vector<int>& order);

template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_eigen(CsrView<T> a, FactorKind);

}  // namespace ts::inline v0::solvers
