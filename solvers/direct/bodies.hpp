// The bodies of DirectSolver. For the .cpp files of this folder alone.
#pragma once

#include "tallskinny/solvers/direct/direct_solver.hpp"

namespace ts::solvers {

/// Null where there is no GPU or cuDSS is not there, or the factors do not fit on the GPU.
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_cudss(CsrView<T> a, FactorKind, const cuda::Stream&);

/// Null where MUMPS is not there.
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_mumps(CsrView<T> a, FactorKind,
                                                                const std::vector<int>& order);

template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse_by_eigen(CsrView<T> a, FactorKind);

}  // namespace ts::solvers
