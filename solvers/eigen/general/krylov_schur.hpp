// A few eigenpairs of matrices that need not be Hermitian.
#pragma once

#include <complex>
#include <functional>
#include <memory>
#include <optional>

#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/small/schur.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

namespace ts::inline v0::solvers {

/// Vectors of a block step, unless they are given.
inline constexpr index_t general_block = 2;

/// Which eigenvalues are wanted: of largest magnitude, largest or smallest real part, or largest or smallest
/// |imaginary part|. SI lies inside of the spectrum: it is verified only where everything is computed.
enum class GeneralWhich { LM, LR, SR, LI, SI };

/// What solve_general() is asked for.
struct GeneralOptions {
  GeneralWhich part = GeneralWhich::LM;  ///< has no say where the problem has a target
  /// nev, tol, convergence (norm, rel or abs), method (automatic or dense), block_size, max_basis,
  /// max_iterations, seed, verify, stop and progress are read.
  EigenOptions common;
};

template <class T>
struct SimilarHermitian;

/// A x = lambda x. T: double or std::complex<double>.
template <class T>
struct GeneralProblem {
  Operator<T> a;
  /// The eigenvalues nearest to it are wanted: real where T is, for then conjugate pairs are at one distance.
  std::optional<T> target = std::nullopt;
  /// Y = (A - shift I)^-1 X, with a shift at or next to the target. Not needed where the whole matrix is decomposed.
  std::optional<Operator<T>> inverse = std::nullopt;
  T shift{};
  /// The same problem for A^H, with the conjugate target: called once, by solve_general, to see whether the
  /// matrix is normal and how well conditioned its eigenvalues are. Without it no search is vouched for.
  std::function<GeneralProblem()> adjoint = {};
  /// D^-1 A D that is Hermitian, with a diagonal D (general/similar.hpp): then that is solved, but for the parts LI and
  /// SI, and `inverse` is not needed.
  std::shared_ptr<const SimilarHermitian<T>> similar = nullptr;
};

/// In the order of what was asked; the two of a conjugate pair stand together, that with the positive
/// imaginary part first, and are never separated: for a real matrix one value more than `nev` may be given.
struct GeneralResult {
  std::vector<std::complex<double>> values;
  Matrix<std::complex<double>> vectors;                    ///< n x values.size(), columns of length one
  DeviceMatrix<std::complex<double>> device_vectors = {};  ///< those, where eigs() was asked for Results::on_device
  std::vector<double> residual_norms;                      ///< ||A x - theta x||, computed from the matrix at the end
  std::vector<double> backward_errors;  ///< those over ||A||: the values are of a matrix so near to A
  /// 1 / |y^H x|: an eigenvalue of A lies, to first order, within this times the residual norm. Eigenvalues
  /// of matrices far from normal are that much less certain than their residuals. Without left eigenvectors
  /// (GeneralProblem::adjoint) those of the projected matrix, which may be far smaller.
  std::vector<double> conditions;
  /// As EigenResult::vector_errors, where the matrix is normal and the set verified. NaN for all others: how far their
  /// vectors are off depends on conditions that are not computed.
  std::vector<double> vector_errors;
  std::vector<bool> converged_pairs;
  index_t converged_count = 0;
  bool converged = false;
  bool verified = false;
  Verification verification = Verification::none;
  StopReason stop = StopReason::max_iterations;
  std::string reason;
  index_t iterations = 0, operator_applications = 0, verification_applications = 0;
  index_t restarts = 0, verification_rounds = 0;
  index_t block_size = 0, max_basis = 0;
  std::string decomposed_by;  ///< Decomposed::by, where the whole matrix was
  bool similar = false;       ///< found of a Hermitian matrix, GeneralProblem::similar
  double norm = 0;            ///< estimate of ||A||_2 from below
  KrylovSeconds seconds;      ///< where the time of the iteration went
  /// The first Ritz value outside of the set; NaN when none is known.
  Complex next_value{nan, 0};
  std::vector<HistoryEntry> history;
};

/// Block Krylov-Schur: a Krylov factorisation that is restarted with Schur vectors (Stewart 2002;
/// blocks: Zhou and Saad 2008). Real matrices are computed with in real arithmetic. When the wanted are
/// converged, they are locked and the search is repeated from a fresh random block in their complement, where
/// A is deflated by them: a value that comes before the last wanted one is missing. Unlike for Hermitian
/// matrices no interlacing makes a rough Ritz value a proof, so a value counts only when its residual is
/// small against its distance. With a target the same is done with the inverse, whose eigenvalues 1 / (lambda
/// - shift) of largest magnitude are wanted; residuals are those of A. No search of a matrix that is not
/// normal proves that nothing is missing, however small its residuals. A set is verified where the whole
/// spectrum was computed (solve_whole: up to 600 rows at once, up to 1500 rows, 1000 complex ones, where a
/// search does not settle it), or where the matrix is normal and a Hermitian matrix with the same
/// eigenvectors has no others (ask_companion). Otherwise the result says so, and A^H gives the conditions
/// (ask_adjoint).
/// @param initial n x c, a warm start of any number of columns (0 columns: random).
/// @param checkpointing a resumed run must get the same problem, options and initial columns (the budget of
/// iterations may differ) and gives the bits of a run that was never interrupted.
/// @throws Error(invalid_argument) naming the option that cannot be met, or for a Context of several ranks;
/// Error(bad_input) for an operator that gives NaN or Inf.
template <class T>
[[nodiscard]] GeneralResult solve_general(const Context&, const GeneralProblem<T>& problem, const GeneralOptions&,
                                          HostView<const T> initial = {}, const Checkpointing<T>& checkpointing = {});

/// What solve_general found near a complex target for a real matrix, made whole: the values of smallest
/// distance to the target or to its conjugate, as many as were asked for, pairs never separated. The real
/// space of the vectors found is taken for one more Rayleigh-Ritz step in real arithmetic, which says what is
/// a pair and what is real; verified stays only what agrees with the values found, copy by copy.
[[nodiscard]] GeneralResult with_conjugates(const Context&, const Operator<double>& a, GeneralResult found,
                                            Complex target, const GeneralOptions&);

}  // namespace ts::inline v0::solvers
