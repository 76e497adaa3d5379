// From matrices in memory to what the solver is given.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/solvers/direct/direct_solver.hpp"
#include "tallskinny/solvers/eigen/transform/mass.hpp"
#include "tallskinny/solvers/eigen/transform/semidefinite.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/setup/any_matrix.hpp"

namespace ts::inline v0::solvers {

/// The products with a matrix, which must outlive them.
template <class T>
[[nodiscard]] Operator<T> operator_of(const AnyView<T>& matrix);

/// A^H
template <class T>
[[nodiscard]] AnyMatrix<T> adjoint_of(const AnyView<T>& matrix);

/// A matrix in the memory of a device, or nothing.
template <class T>
using DeviceCopy = std::variant<std::monostate, DeviceCsrMatrix<T>, DeviceMatrix<T>>;
template <class T>
[[nodiscard]] DeviceCopy<T> copy_to(const cuda::Stream& stream, const AnyView<T>& matrix);
/// The products there, or where nothing is there on the host; both matrices must outlive them.
template <class T>
[[nodiscard]] Operator<T> operator_of(const AnyView<T>& matrix, const DeviceCopy<T>& there);
/// Where blocks of vectors are best.
template <class T>
[[nodiscard]] Space home_of(const DeviceCopy<T>& there) {
  return std::holds_alternative<std::monostate>(there) ? Space::host : Space::device;
}

/// The numbers of a matrix rounded to float32, n x 1 of a sparse one, which lends its pattern; also on a
/// device if the matrix is there.
template <class T>
struct Rounded {
  PlacedMatrix<narrow_t<T>> here, there;
};
template <class T>
[[nodiscard]] Rounded<T> rounded(const Context&, const AnyView<T>& matrix, const DeviceCopy<T>& there);
/// The products with them; all three must outlive them.
template <class T>
[[nodiscard]] Operator<narrow_t<T>> operator_of(const AnyView<T>& matrix, const DeviceCopy<T>& there,
                                                const Rounded<T>&);

/// Factorisations for a problem: none (a dense solver takes no part), cheap ones, or all that are needed.
enum class Factorise { nothing, cheap, needed };

template <class T>
struct Assembled {
  EigenProblem<T> problem;
  std::optional<MassFactor<T>> factor;  ///< of the mass matrix, if there is one
  /// In the place of all else where the mass matrix is singular to rounding.
  std::optional<SemidefinitePencil<T>> semidefinite = std::nullopt;
  std::string note = {};  ///< empty, or a sentence on a shift that was moved, or on infinite eigenvalues
};

/// Told of the factors that a run needs before they are computed; may throw.
using BeforeFactors = std::function<void(const FactorEstimate&)>;

/// The matrix to factorise, and the backend that does it.
struct FactorPlan {
  Factorise what = Factorise::nothing;
  BeforeFactors before = nullptr;
  cuda::Stream gpu = {};  ///< of cuDSS, where what is needed may be factorised there
  DirectBackend by = DirectBackend::best;
};

/// A x = lambda x, or with a mass matrix the standard form of A x = lambda M x. The matrices must outlive it. Where
/// the matrix is on a device as well, blocks are kept there. They go to the processor for what its factors do, unless
/// FactorPlan::gpu, the stream of that device, is given and cuDSS is found.
/// @param ctx with several ranks: all make it together, each with its rows, but not with factors of a dense A
/// @throws Error(bad_input) for a mass matrix that is indefinite or of another size.
template <class T>
[[nodiscard]] Assembled<T> assemble(const Context& ctx, const AnyView<T>& matrix, const std::optional<CsrView<T>>& mass,
                                    std::optional<double> target, const FactorPlan& factors,
                                    const DeviceCopy<T>& there = {});

/// assemble() with a fallback: where no shift near the target can be factorised and the matrix is small, assembles for
/// Method::dense, and sets it in `options`. @param n rows of all ranks
template <class T>
[[nodiscard]] Assembled<T> assemble_or_whole(const Context& ctx, index_t n, const AnyView<T>& matrix,
                                             const std::optional<CsrView<T>>& mass, std::optional<double> target,
                                             const FactorPlan& factors, const DeviceCopy<T>& there,
                                             EigenOptions& options);

/// Plan of one factorisation of A - sigma M; nothing for a dense A, which is n x n. Ranks call it together.
template <class T>
[[nodiscard]] std::optional<FactorEstimate> estimate_factors(const Context& ctx, const AnyView<T>& matrix,
                                                             const std::optional<CsrView<T>>& mass, FactorKind,
                                                             DirectBackend by = DirectBackend::best);

/// The cost of one factorisation of A - sigma M for ways_of(); infinite where a run would make none.
/// @param estimate of factors that are needed, as estimate_factors() gives it. For Factorise::cheap a short analysis
/// serves, and a pattern whose analysis alone is not cheap is not analysed.
template <class T>
[[nodiscard]] FactorCost factor_cost(const Context& ctx, const AnyView<T>& matrix,
                                     const std::optional<CsrView<T>>& mass, Factorise what,
                                     const std::optional<FactorEstimate>& estimate);

/// Preconditioners that need no other matrix.
enum class Preconditioner { jacobi, incomplete_cholesky, chebyshev };

/// For the end `which` (SA or LA) of the matrix, or of the standard form where there is a factor of the mass
/// matrix. The matrix must outlive it.
/// @throws Error(invalid_argument) for an incomplete factorisation of a dense matrix.
template <class T>
[[nodiscard]] Operator<T> preconditioner_of(const Context&, const AnyView<T>& matrix, const Assembled<T>& assembled,
                                            Preconditioner, Which which);

}  // namespace ts::inline v0::solvers
