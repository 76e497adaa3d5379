// Eigenvalues of Hermitian operators: the one entry.
#pragma once

#include <functional>
#include <optional>

#include "tallskinny/solvers/eigen/options.hpp"
#include "tallskinny/solvers/eigen/result/result.hpp"
#include "tallskinny/solvers/eigen/state.hpp"
#include "tallskinny/solvers/eigen/transform/inertia.hpp"
#include "tallskinny/solvers/operator.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

/// (A - shift I)^-1
template <class T>
struct ShiftedInverse {
  Operator<T> inverse;
  double shift = 0;
};

/// A x = lambda x with A Hermitian. T: double or std::complex<double>.
template <class T>
struct EigenProblem {
  Operator<T> a;
  /// sigma: eigenvalues near it are wanted.
  std::optional<double> target = std::nullopt;
  /// Y = (A - shift I)^-1 X with a shift at or next to the target: block Lanczos seeks through it.
  std::optional<Operator<T>> inverse = std::nullopt;
  double shift = 0;
  /// The number of eigenvalues below a shift that none is nearer to than `clearance` (Sylvester's law of
  /// inertia), or nothing when it cannot be told.
  CountBelow count_below = nullptr;
  /// Factorises A - sigma I and gives its inverse with the shift that was taken, where that is cheap. With it
  /// and `count_below`, Method::automatic goes through the inverse at an end of the spectrum (LA or SA) that
  /// plain Lanczos does not settle within its first basis.
  std::function<std::optional<ShiftedInverse<T>>(double sigma)> invert = nullptr;
  /// A in float32: for Precision::float32 and mixed.
  std::optional<Operator<narrow_t<T>>> narrow = std::nullopt;
  /// Hermitian and positive definite, near A^-1 in what matters: for LOBPCG and Davidson.
  std::optional<Operator<T>> preconditioner = std::nullopt;
};

/// The wanted eigenpairs by block Lanczos with thick restart, or by a dense solver where the matrix is small.
/// The set is called verified only after a search for missing copies found none; see README.md beside this
/// file.
/// @param initial n x c, a warm start of any number of columns (0 columns: random).
/// @throws Error(invalid_argument) naming the option that cannot be met, or for a Context of several ranks;
/// Error(bad_input) for an operator that gives NaN or Inf. Not converging is a returned outcome.
/// @param checkpointing of block Lanczos; a dense solve takes no part in it. A resumed run must get the same
/// problem, options and initial columns (the budget of iterations may differ) and gives the bits of a run
/// that was never interrupted.
template <class T>
[[nodiscard]] EigenResult<T> solve_eigen(const Context&, const EigenProblem<T>&, const EigenOptions&,
                                         HostView<const T> initial = {},
                                         const Checkpointing<T>& checkpointing = {});

}  // namespace ts::solvers
