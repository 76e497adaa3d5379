// A few eigenpairs of a matrix that need not be Hermitian, in one call.
#pragma once

#include "tallskinny/solvers/driver/borrowed.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"

namespace ts::inline v0::solvers {

/// Options beside EigenOptions, of which GeneralOptions::common says what is read; `nev` is ignored.
/// T: double or std::complex<double>.
template <class T>
struct EigsOptions : EigenOptions {
  GeneralWhich part = GeneralWhich::LM;  ///< has no say with sigma
  /// The eigenvalues nearest to it are wanted, through a factorisation of A - sigma I. With an imaginary part the
  /// search for a real matrix takes complex arithmetic.
  std::optional<std::complex<double>> sigma;
  HostView<const T> initial = {};       ///< n x c, a warm start of any number of columns
  Checkpointing<T> checkpointing = {};  ///< not where a real matrix has a complex sigma
};

/// GeneralResult says how far it came.
struct EigsResult : GeneralResult {
  std::string note;  ///< empty, or a sentence on a shift that was moved or could not be factorised
};

namespace driver {
template <class T>
[[nodiscard]] EigsResult eigs(const Context&, Borrowed<T>&& a, index_t k, const EigsOptions<T>&);
}  // namespace driver

/// The k wanted eigenpairs of a square matrix, as `tssolve --general` finds them. Values and vectors are complex.
/// @param a n x n, as for eigsh()
/// @throws Error(invalid_argument) naming the option that cannot be met; Error(bad_input) for NaN or Inf. Not
/// converging is a returned outcome.
template <MatrixInMemory M>
[[nodiscard]] EigsResult eigs(const Context& ctx, const M& a, index_t k,
                              const EigsOptions<ts::wide_t<element_of_t<M>>>& options = {}) {
  using T = ts::wide_t<element_of_t<M>>;
  const UseHostMemory use(ctx.host_memory);
  return driver::eigs<T>(ctx, Borrowed<T>(host_view_of(a)), k, options);
}

/// eigs() of any operator on blocks, without a sigma. No set of it is vouched for without its
/// adjoint: GeneralProblem takes one.
template <class T>
[[nodiscard]] EigsResult eigs(const Context& ctx, const Operator<T>& a, index_t k,
                              const std::type_identity_t<EigsOptions<T>>& options = {});

}  // namespace ts::inline v0::solvers
