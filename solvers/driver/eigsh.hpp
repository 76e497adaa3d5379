// A few eigenpairs of a Hermitian matrix in one call.
#pragma once

#include "tallskinny/solvers/driver/borrowed.hpp"
#include "tallskinny/solvers/driver/hermitian.hpp"

namespace ts::inline v0::solvers {

/// Options beside EigenOptions, whose `nev` is ignored. T: double or std::complex<double>.
template <class T>
struct EigshOptions : EigenOptions {
  /// Eigenvalues near it, through a factorisation of A - sigma M; `which` SM without it means 0.
  std::optional<double> sigma;
  /// All eigenvalues in it instead of k, rising.
  std::optional<Interval> interval;
  /// M of A x = lambda M x, n x n; no rows: the identity. Positive definite; with sigma, `which` SM or an interval
  /// positive semidefinite, which leaves some eigenvalues infinite. Columns rise within each row.
  CsrView<T> mass = {};
  HostView<const T> initial = {};  ///< n x c, a warm start of any number of columns
  /// For LOBPCG and Davidson: near A^-1, or one that is made from the entries. Neither: the diagonal for SA.
  std::optional<Operator<T>> preconditioner;
  std::optional<Preconditioner> made;
  /// (A - sigma M)^-1, for an Operator with a sigma; a matrix is factorised.
  std::optional<Operator<T>> inverse;
  bool check = true;  ///< that the matrices are Hermitian: a pass over their entries
  /// Solves (A + A^H) / 2, and the same of `mass`, however far they are from Hermitian.
  bool symmetrise = false;
  /// Entries were computed in float32, whatever their type is now: what rounding may be.
  bool from_float32 = false;
  Checkpointing<T> checkpointing = {};
};

/// EigenResult has how far it came: `converged`, `verified` (no copy and no value is missing), `reason`.
template <class T>
struct EigshResult : HermitianResult<T> {
  /// SkewPart::largest: how far A is from Hermitian. (A + A^H) / 2 was solved, and error bounds count the difference,
  /// unless `symmetrise` asked for it.
  double asymmetry = 0;
};

namespace driver {
template <class T>
[[nodiscard]] EigshResult<T> eigsh(const Context&, Borrowed<T>&& a, index_t k, const EigshOptions<T>&);
}  // namespace driver

/// The k wanted eigenpairs of a Hermitian matrix, as tssolve finds them: extreme numbers are scaled by a power of two,
/// what is cheap or needed is factorised, the set is verified, a small matrix is decomposed as a whole. Of a matrix
/// that is Hermitian to rounding (skew_part()) the Hermitian part is solved.
/// @param a n x n: CsrMatrix, CsrView, Matrix or MatrixView in host memory, of any of the six types, in either layout
/// (Borrowed says what is copied); on several ranks those rows of it that ctx.slabs gives this one, as of `mass`,
/// `initial` and the vectors. Where ctx has a stream the work is done on its device; vectors are where
/// options.results says.
/// @throws Error(invalid_argument) naming the option that cannot be met; Error(bad_input) for a matrix that is not
/// Hermitian, naming the first entry, for a mass matrix that is indefinite, and for NaN or Inf. Not
/// converging is a returned outcome.
template <MatrixInMemory M>
[[nodiscard]] auto eigsh(const Context& ctx, const M& a, index_t k,
                         const EigshOptions<ts::wide_t<element_of_t<M>>>& options = {}) {
  using T = ts::wide_t<element_of_t<M>>;
  const UseHostMemory use(ctx.host_memory);
  return driver::eigsh<T>(ctx, Borrowed<T>(host_view_of(a)), k, options);
}

/// eigsh() of any operator on blocks. With `sigma` it needs `inverse`.
template <class T>
[[nodiscard]] EigshResult<T> eigsh(const Context& ctx, const Operator<T>& a, index_t k,
                                   const std::type_identity_t<EigshOptions<T>>& options = {});

}  // namespace ts::inline v0::solvers
