// Orthonormalise a block against a basis, X_in = V S + X_out R.
#pragma once

#include "tallskinny/solvers/ortho/muscle.hpp"

namespace ts::inline v0::ortho {

/// The default. BCGSI+A: two projections, with a Cholesky QR after each, given that the first block of V was
/// made by a strong method. Where the block is well conditioned after its first projection, the normalisation
/// between the projections is left out and the second projection is skipped when what it would remove has
/// been measured and is below `accept`. Loss O(u) for any kappa: directions that are not there are found and
/// dropped. Source: Carson, Lund, Ma, Oktay 2026, "On the loss of orthogonality of low-synchronization
/// variants of reorthogonalized block classical Gram-Schmidt", and Barlow and Smoktunowicz 2013 for BCGSI+.
struct BcgsiPlusA {
  /// The size of the numbers that X was computed from (for X = A Y: about ||A||). Directions that after
  /// projection are below `dead_factor(n) u noise_scale` are rounding errors: they are dropped. The columns
  /// of X themselves are always taken into account, so 0 is a good value for a block that was not computed.
  double noise_scale = 0;
  /// ||V^H X_out|| that is accepted without another projection, in units of u.
  double accept = 4;
};

/// Outcome of orthonormalising one block against a basis, for the history of a solver.
struct Extension {
  index_t rank = 0;  ///< columns of X_out
  index_t dead = 0;  ///< columns lost: directions of X that lie in span(V) to rounding
  Rung rung = Rung::failed;
  Work work;
};

/// Units of roundoff below which a direction of n rows is dead. In float32 they do not grow with n: what
/// polynomials add to rounding is known to their `noise_scale`, and sqrt(n) would leave few digits.
[[nodiscard]] double dead_factor(index_t n, double roundoff) noexcept;

/// X_in = V S + X_out R, with V n x m orthonormal, X n x b, S m x b, R b x b. On return X(:, 0 .. rank-1) is
/// orthonormal and orthogonal to V; rows of R below the rank are zero. With `known` S holds on entry a first
/// guess of V^H X (in a Krylov method most of it is known from the recurrence), which saves a pass over V; it
/// need not be exact. X and S must be finite, otherwise the rung is `failed`. m = 0 is the first block and
/// takes the Ladder. T: one of the four result types.
template <class T>
Extension orthonormalise(const Context&, BcgsiPlusA, PlacedView<const T> v, PlacedView<T> x, HostView<T> s,
                         HostView<T> r, bool known = false);

}  // namespace ts::inline v0::ortho
