// Eigenvalues of A x = lambda M x with a positive semidefinite M: near a target, or all of an interval.
#pragma once

#include <functional>
#include <optional>

#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/eigen/transform/semidefinite.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/eigen/values/state.hpp"

namespace ts::inline v0::solvers {

/// The request to a semidefinite pencil, beside EigenOptions.
template <class T>
struct SemidefiniteRequest {
  std::optional<double> target = std::nullopt;      ///< `which` goes by it, as in EigenProblem
  std::optional<Interval> interval = std::nullopt;  ///< all finite eigenvalues in it; one of the two is given
  HostView<const T> initial = {};
  Checkpointing<T> checkpointing = {};             ///< not with an interval
  std::function<void(index_t)> counted = nullptr;  ///< as in solve_interval()
};

/// The solution of a semidefinite pencil: EigenResult, and what it says beyond that.
template <class T>
struct SemidefiniteResult : EigenResult<T> {
  std::vector<double> backward_errors;  ///< as PencilChecks
  std::string note;                     ///< empty, or a sentence on a shift that was moved
};

/// Block Lanczos with B = L^H (A - sigma M)^-1 L, Hermitian and of as many rows as M has rank, so that no vector of the
/// null space of M takes part; with counts by the inertia of A - t M. Values that cannot be told from infinite ones are
/// left out. Vectors have X^H M X = I. Residual norms are |lambda - sigma| ||(A - sigma M)^-1 f|| in the seminorm of M,
/// with f = A x - lambda M x from the two matrices: where they are small against |lambda - sigma|, an eigenvalue lies
/// within them. For B y = (y - L^H (A - sigma M)^-1 f) / (lambda - sigma), y = L^H x. `norm` of the result is
/// ||A|| / ||M||. A pair counts as converged, too, where its backward error is that of rounding. An interval with one
/// end is searched from there, one with two is cut into slices by counts.
/// @throws Error(bad_input) without a target and an interval; Error(invalid_argument) where no shift can be factorised
template <class T>
[[nodiscard]] SemidefiniteResult<T> solve_semidefinite(const Context&, const SemidefinitePencil<T>&,
                                                       const EigenOptions&, const SemidefiniteRequest<T>&);

}  // namespace ts::inline v0::solvers
