// The problem A x = lambda x with A Hermitian, and what is known of it beside A.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/eigen/values/ways.hpp"
#include "tallskinny/solvers/operator.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// The number of eigenvalues below `shift`, which no eigenvalue is supposed to be nearer to than `clearance`;
/// nothing when rounding could have moved one across. With `clearance` 0 nothing is supposed.
using CountBelow = std::function<std::optional<index_t>(double shift, double clearance)>;

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
  /// Factorises A - sigma I and gives its inverse with the shift that was taken. With it, `count_below` and
  /// `factors`, Method::automatic goes through the inverse at an end of the spectrum (LA or SA, for LM and BE at each)
  /// where that costs less, as ways_of() says.
  std::function<std::optional<ShiftedInverse<T>>(double sigma)> invert = nullptr;
  /// What `invert` and a count take: next to nothing unless it is said.
  FactorCost factors = {0, 0};
  /// A in float32: for Precision::float32 and mixed.
  std::optional<Operator<narrow_t<T>>> narrow = std::nullopt;
  /// Hermitian and positive definite, near A^-1 in what matters: for LOBPCG and Davidson.
  std::optional<Operator<T>> preconditioner = std::nullopt;
};

/// The costs of a run with these sizes.
template <class T>
[[nodiscard]] Ways ways_of(const EigenProblem<T>& problem, index_t rows, const EigenPlan& plan) {
  constexpr double device_speed = 20;
  const double entries = static_cast<double>(std::max<index_t>(0, problem.a.facts().entries));
  const double speed = problem.a.space() == Space::device ? device_speed : 1;
  const bool factors = problem.invert || problem.inverse;
  return ways_of({rows, entries, factors ? problem.factors : FactorCost{}, speed}, plan.nev, plan.block_size,
                 plan.max_basis);
}

}  // namespace ts::inline v0::solvers
